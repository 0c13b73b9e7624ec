"""What several tries are worth: pass@k and pass^k of one task, without bias."""

from math import comb


def pass_at_k(runs: int, solved: int, k: int) -> float:
    """The probability that at least one of `k` runs is solved (Chen et al., arXiv:2107.03374).

    Estimated over all choices of `k` of the `runs`, which is unbiased; `1 - (1 - rate) ** k`
    is not.

    Raises:
        ValueError: `k` is not from 1 to `runs`.
    """
    _check(runs, solved, k)
    return 1 - comb(runs - solved, k) / comb(runs, k)


def pass_hat_k(runs: int, solved: int, k: int) -> float:
    """The probability that all of `k` runs are solved, written pass^k (arXiv:2406.12045).

    Raises:
        ValueError: `k` is not from 1 to `runs`.
    """
    _check(runs, solved, k)
    return comb(solved, k) / comb(runs, k)


def _check(runs: int, solved: int, k: int) -> None:
    if not (1 <= k <= runs and 0 <= solved <= runs):
        raise ValueError(f"no choice of {k} among {runs} runs of which {solved} are solved")
