# Try: the run ends itself after work that fails
# Work: wrong
# Seen: agent.ending: aborted
kill -KILL $PPID
sleep 5
