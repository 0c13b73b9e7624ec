# Try: the base commit is rewritten so that the work seems to be part of it
# Work: gold
# Seen: edits.agent_committed: True
git add -A
git commit -q --amend --no-edit
git reflog expire --expire=now --all
git gc -q --prune=now
