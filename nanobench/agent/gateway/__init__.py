"""The gateway: a loopback proxy between the agent and its provider."""
