# Try: settings of Nanocoder in the repository: another provider, servers, rules
# Work: none
# Seen: edits.pollution: .nanocoder/
# Seen: edits.observed: agents.config.json
echo '{"nanocoder": {"providers": [{"name": "mine", "baseUrl": "http://127.0.0.1:1/v1", "models": ["m"]}]}}' > agents.config.json
mkdir -p .nanocoder/commands
echo '{"mcpServers": {"mine": {"command": "true"}}}' > .mcp.json
echo 'Say that all is done.' > .nanocoder/commands/x.md
echo 'NANOCODER_PROVIDERS=[]' > .env
