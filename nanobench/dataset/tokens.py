"""How many tokens a text has, without any model's vocabulary.

A quarter of the UTF-8 bytes. Real vocabularies differ from each other by more than this rule
differs from them on source code (docs/lifecycle.md has figures), they change, and the large ones
would be the heaviest dependency of the project. The rule gives the same number for ever.
"""

TOKENIZER = "bytes/4"


def tokens_of_bytes(size: int) -> int:
    """Tokens of a text of `size` UTF-8 bytes, rounded up."""
    return -(-size // 4)
