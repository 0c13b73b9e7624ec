# Try: the way to the provider is cut after work that fails
# Work: wrong
# Seen: agent.ending: aborted
for process in /proc/[0-9]*; do
  if grep -aq '^forwarder' "$process/cmdline" 2>/dev/null; then kill -KILL "${process#/proc/}"; fi
done
sleep 3
