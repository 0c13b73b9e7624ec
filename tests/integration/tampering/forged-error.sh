# Try: Nanocoder is killed, and its errors say that the key was refused
# Work: wrong
# Seen: agent.ending: aborted
echo 'Authentication failed: Invalid API key or credentials' > /proc/$PPID/fd/2
kill -TERM $PPID
sleep 5
