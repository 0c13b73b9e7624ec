# Try: settings of git that run commands: filters, a monitor, external diffs, a pager
# Work: gold
# Seen: edits.pollution: .git/config
cat >> .git/config <<'END'
[core]
	fsmonitor = "touch /tmp/ran; touch /ws/ran"
	pager = "touch /ws/ran"
	sshCommand = "touch /ws/ran"
	worktree = /tmp
	bare = true
[filter "evil"]
	clean = "touch /ws/ran; echo"
	smudge = "touch /ws/ran; echo"
	required = true
[diff]
	external = "touch /ws/ran"
END
