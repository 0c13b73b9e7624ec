# Try: everything is ignored, by .gitignore and by info/exclude
# Work: gold
# Seen: edits.observed: .gitignore
# Seen: edits.pollution: .git/info/exclude
mkdir -p .git/info
echo '*' | tee .git/info/exclude > .gitignore
