// A provider that plays one fixed conversation per path: http://127.0.0.1:PORT/<scenario>/v1.
// Usage: node provider.mjs PORT DIRECTORY. It notes every request in DIRECTORY/requests.jsonl,
// and the newest request whole in DIRECTORY/request.json. It counts 100 tokens per request.
import {appendFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';

const [port, directory] = process.argv.slice(2);
const say = content => ({content});
const call = (name, args) => ({name, args});
const bash = command => call('execute_bash', {command});
const refuse = (status, message, headers = {}) => ({status, message, headers});
const later = {'retry-after-ms': '10'};

// A reply per turn, the last one for ever; a turn is the number of earlier replies.
const scenarios = {
	done: [say('Done.')],
	unauthorized: [refuse(401, 'Incorrect API key provided')],
	'edit-then-unauthorized': [
		call('write_file', {path: 'new.txt', content: 'work'}),
		refuse(401, 'Incorrect API key provided'),
	],
	'files-changed': [
		call('write_file', {path: '../refused.txt', content: 'x'}),
		call('string_replace', {path: 'a.txt', old_str: 'not read before', new_str: 'x'}),
		call('file_op', {operation: 'delete', path: 'b.txt'}),
		bash('echo work > c.txt'),
		say('Done.'),
	],
	large: [call('write_file', {path: 'large.txt', content: 'x'.repeat(200_000)}), say('Done.')],
	'sleep-long': [bash('echo $$ > "$TMPDIR/sleeper"; exec sleep 300'), say('Done.')],
	limited: [refuse(429, 'Rate limit reached', later)],
	'limited-once': [say('Done.')],
	'unknown-tools': [call('no_such_tool', {}), call('no_such_tool', {}), say('Done.')],
	subagent: [
		call('agent', {subagent_type: 'explore', description: 'd', prompt: 'p'}),
		say('Done.'),
	],
	key: [bash('printenv | grep -c secret-key'), say('Done.')],
	cut: [{cut: 'Everything is do'}],
	image: [call('read_file', {path: 'shot.png'}), say('Done.')],
};

let refusals = 0;

createServer(async (request, response) => {
	let body = '';
	for await (const chunk of request) body += chunk;
	const scenario = request.url.split('/')[1];
	const asked = JSON.parse(body || '{}');
	const fields = Object.keys(asked).sort();
	appendFileSync(join(directory, 'requests.jsonl'), JSON.stringify({scenario, fields}) + '\n');
	writeFileSync(join(directory, 'request.json'), JSON.stringify(asked));
	const turns = scenarios[scenario] ?? [say('unknown scenario')];
	const turn = (asked.messages ?? []).filter(message => message.role === 'assistant').length;
	let reply = turns[Math.min(turn, turns.length - 1)];
	if (scenario === 'limited-once' && refusals++ === 0) reply = scenarios.limited[0];
	if (reply.status) {
		response.writeHead(reply.status, {'content-type': 'application/json', ...reply.headers});
		return response.end(JSON.stringify({error: {message: reply.message}}));
	}
	response.writeHead(200, {'content-type': 'text/event-stream'});
	const send = (choices, more = {}) =>
		response.write(`data: ${JSON.stringify({id: 'r', object: 'chat.completion.chunk', model: 'm', choices, ...more})}\n\n`);
	if (reply.cut) {
		send([{index: 0, delta: {role: 'assistant', content: reply.cut}, finish_reason: null}]);
		return response.end();
	}
	const tool = reply.name && {
		tool_calls: [{
			index: 0,
			id: `call_${turn}`,
			type: 'function',
			function: {name: reply.name, arguments: JSON.stringify(reply.args)},
		}],
	};
	send([{index: 0, delta: {role: 'assistant', ...(tool || {content: reply.content})}, finish_reason: null}]);
	send([{index: 0, delta: {}, finish_reason: tool ? 'tool_calls' : 'stop'}]);
	send([], {usage: {prompt_tokens: 100, completion_tokens: 10, total_tokens: 110}});
	response.end('data: [DONE]\n\n');
}).listen(Number(port), '127.0.0.1');
