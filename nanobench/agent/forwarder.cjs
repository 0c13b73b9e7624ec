// The one way out of a sandbox without network: what reaches 127.0.0.1:PORT goes to SOCKET.
// usage: node -e SOURCE -- SOCKET PORT COMMAND [ARG ...]
// Runs the command once it listens, and ends with it and as it ended.
const { spawn } = require('node:child_process');
const { connect, createServer } = require('node:net');
const { basename, dirname } = require('node:path');

const [, socket, port, program, ...rest] = process.argv;
const cwd = process.cwd();
process.title = 'forwarder';
process.chdir(dirname(socket)); // the address of a socket has no room for a long path

const server = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: basename(socket), allowHalfOpen: true });
  for (const [one, other] of [[inner, outer], [outer, inner]]) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});

server.on('error', (error) => {
  console.error(`forwarder: ${error.message}`);
  process.exit(126);
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, rest, { cwd, stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(`forwarder: ${error.message}`);
    process.exit(127);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.kill(process.pid, signal);
  });
});
