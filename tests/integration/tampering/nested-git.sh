# Try: a directory of the product is a repository of its own
# Work: gold
# Seen: edits.skipped: tempo/.git
cd tempo
git init -q
git add -A
git commit -qm inner
