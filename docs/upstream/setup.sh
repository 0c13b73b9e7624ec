# Sourced by bash before a snippet of upstream.md: a fresh repository, a provider that plays one
# fixed conversation per scenario, and `run SCENARIO [PROMPT]`. All of it is gone afterwards.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
port=${PORT:-8791}
nanocoder=${NANOCODER:-npx --yes @nanocollective/nanocoder@1.30.0}
export npm_config_cache=${npm_config_cache:-$HOME/.npm}
export NANOCODER_CONFIG_DIR=$work/config NANOCODER_DATA_DIR=$work/data HOME=$work TMPDIR=$work/tmp
export GIT_CONFIG_GLOBAL=/dev/null

node "$here/provider.mjs" "$port" "$work" &
provider=$!
trap 'kill $provider; rm -rf "$work"' EXIT
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done

mkdir -p "$work/config" "$work/tmp" "$work/repo"
cd "$work/repo" || exit
git init -q
echo a > a.txt
echo b > b.txt
git add . && git -c user.name=n -c user.email=n@example.invalid commit -qm base

providers() { # SCENARIO [MORE FIELDS]
  printf '[{"name":"mock","baseUrl":"http://127.0.0.1:%s/%s/v1","apiKey":"secret-key",' "$port" "$1"
  printf '"models":["m"],"contextWindow":128000%s}]' "${2:+,$2}"
}
nanocoder() { $nanocoder --provider mock --model m --trust-directory --plain --json "$@"; }
run() { NANOCODER_PROVIDERS=$(providers "$1" "$FIELDS") nanocoder --mode "${MODE:-yolo}" run "${2:-Go.}"; }
field() { node -p "JSON.stringify(JSON.parse(require('fs').readFileSync('$1')).$2)"; }
requests() { wc -l < "$work/requests.jsonl"; }
asked() { tail -n 1 "$work/requests.jsonl" | node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
