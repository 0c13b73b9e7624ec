# Try: hooks for everything that git does
# Work: gold
# Seen: edits.pollution: .git/hooks/pre-commit
mkdir -p .git/hooks
for hook in pre-commit post-checkout post-index-change pre-applypatch reference-transaction; do
  printf '#!/bin/sh\ntouch /ws/ran\nexit 1\n' > .git/hooks/$hook
  chmod 755 .git/hooks/$hook
done
