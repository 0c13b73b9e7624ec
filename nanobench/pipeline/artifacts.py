"""The names of what is kept beside a record: files of the attempt, and ids of outputs."""

AGENT_PATCH = "agent.patch"
GATEWAY_LOG = "gateway.jsonl"
PROMPT = "prompt.txt"
AGENT_REPORT = "agent-report"
AGENT_STDERR = "agent-stderr"
