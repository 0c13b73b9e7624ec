# Try: there is no .git any more
# Work: gold
# Seen: edits.pollution: .git (removed)
rm -rf .git
