# Try: twenty thousand files
# Work: gold
# Seen: edits.skipped: more added files
mkdir many
(cd many && seq 20000 | xargs touch)
