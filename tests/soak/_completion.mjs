// An OpenAI-compatible endpoint around a base model on this machine's processor.
//
//   node completion.mjs NODE_LLAMA_CPP MODEL EXAMPLES < pipe
//
// NODE_LLAMA_CPP is the package's folder, MODEL a GGUF file, EXAMPLES a text that the conversation goes on from:
// a base model knows no chat, it continues what it reads. Prints one line of JSON when it listens and one for each
// answer, and ends when its stdin does. It knows `POST /v1/chat/completions`, streamed, one at a time; it is for a
// soak and for nothing else.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [folder, file, examples] = process.argv.slice(2);
const { getLlama, LlamaCompletion } = await import(pathToFileURL(`${folder}/dist/index.js`).href);

const CONTEXT_TOKENS = 4096;
// Two that wait for each other lose tenfold where others work beside them.
const THREADS = 1;
const MOST_BODY_BYTES = 4 << 20;
const HEADS = { system: "### Setting", user: "### Message", assistant: "### Reply" };
const STOPS = ["\n###"];

const head = readFileSync(examples, "utf8").trimEnd();
const llama = await getLlama({ build: "never", gpu: false, maxThreads: THREADS, progressLogs: false });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: THREADS });
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
const examplesTokens = model.tokenize(head).length;
const tell = (line) => console.log(JSON.stringify(line));
let seed = 0;

/** The examples, the last messages that fit beside them and the answer, and the head of what is to come. */
function prompt(messages, mostTokens) {
  const end = `\n\n${HEADS.assistant}\n`;
  let room = CONTEXT_TOKENS - examplesTokens - mostTokens - 64;
  const kept = [];
  for (const { role, content } of messages.filter(({ role }) => role !== "system").reverse()) {
    const tokens = model.tokenize(`\n\n${HEADS[role]}\n${content.trim()}`);
    if (tokens.length > room && kept.length) break;
    kept.unshift(model.detokenize(tokens.slice(-room)));
    room -= tokens.length;
  }
  return head + kept.join("") + end;
}

async function answer(asked, say, signal) {
  if (signal.aborted) return;
  const mostTokens = Math.min(asked.max_tokens ?? 128, 512);
  const began = performance.now();
  const text = prompt(asked.messages, mostTokens);
  let tokens = 0;
  let said = "";
  await completion.generateCompletion(text, {
    maxTokens: mostTokens,
    temperature: asked.temperature ?? 0.7,
    topP: asked.top_p ?? 0.95,
    seed: ++seed,
    customStopTriggers: STOPS,
    signal,
    trimWhitespaceSuffix: true,
    onToken: (some) => { tokens += some.length; },
    onTextChunk: (content) => {
      said += content;
      say({ choices: [{ index: 0, delta: { content } }] });
    },
  });
  const usage = { prompt_tokens: model.tokenize(text).length, completion_tokens: tokens };
  say({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage });
  tell({ text: said, prompt_tokens: usage.prompt_tokens, tokens, ms: performance.now() - began });
}

async function body(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) throw new Error("the request is too large");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

let turn = Promise.resolve(); // one sequence of tokens: one answer at a time

const server = createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    response.writeHead(404).end();
    return;
  }
  const gone = new AbortController(); // nobody waits: the next one must not wait for this
  response.on("close", () => gone.abort());
  const say = (chunk) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  try {
    const asked = await body(request);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    turn = turn.catch(() => {}).then(() => answer(asked, say, gone.signal));
    await turn;
    response.end("data: [DONE]\n\n");
  } catch (broken) {
    if (!response.headersSent) response.writeHead(400);
    response.end(`data: ${JSON.stringify({ error: { message: String(broken) } })}\n\n`);
  }
});

server.listen(0, "127.0.0.1", () => {
  tell({ port: server.address().port });
});
process.stdin.resume().on("end", () => process.exit(0));
