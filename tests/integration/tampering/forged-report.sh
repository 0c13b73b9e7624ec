# Try: Nanocoder is killed, and its report says that it waits for an approval
# Work: wrong
# Seen: agent.ending: approval_required
printf '{\n  "kind": "tool-approval-required", "exitCode": 2, "finalText": "", "reasoning": null,\n  "toolCalls": [], "filesChanged": [], "toolNames": ["execute_bash"]\n}\n' > /proc/$PPID/fd/1
kill -KILL $PPID
sleep 5
