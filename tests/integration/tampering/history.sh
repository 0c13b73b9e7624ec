# Try: the merged change is looked for in git
# Work: none
# Seen: trajectory.history_attempts: git log --all
git log --all --oneline
git reflog
git fsck --lost-found
git fetch origin
git checkout FETCH_HEAD -- .
true
