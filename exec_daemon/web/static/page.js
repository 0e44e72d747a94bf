// The page's script: it follows threads and jobs, sends forms to the API, and keeps relative times true.
// Everything it sends is a documented endpoint; everything it shows was made by the server or is set as text.
"use strict";

const proof = document.querySelector('meta[name="proof"]')?.content ?? "";
const said = document.getElementById("said");

function say(text) {
  said.textContent = text;
}

async function send(method, path, body) {
  const headers = { "X-Inband-Proof": proof };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { ok: answer.ok, status: answer.status, body: await answer.json().catch(() => ({})) };
}

function whyNot(answer) {
  const failed = answer.body.error ?? answer.body;
  return `${failed.code ?? answer.status}: ${failed.message ?? failed.detail ?? "failed"}`;
}

// Buttons that stand for one request.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-path]");
  if (!button) return;
  button.disabled = true;
  const body = button.dataset.body === undefined ? undefined : JSON.parse(button.dataset.body);
  const answer = await send(button.dataset.method, button.dataset.path, body);
  if (answer.ok) location.assign(button.dataset.then);
  else { say(whyNot(answer)); button.disabled = false; }
});

// The form of an op: its fields become the arguments of one call.
function argumentsOf(form) {
  const args = {};
  for (const field of form.querySelectorAll("[name]")) {
    const written = field.value;
    if (written === "") continue;
    if (field.dataset.kind !== "json") { args[field.name] = written; continue; }
    try { args[field.name] = JSON.parse(written); }
    catch { throw new Error(`${field.name}: not JSON`); }
  }
  return args;
}

async function call(form, dryRun) {
  const shown = document.querySelector(".answer");
  const block = document.createElement("pre");
  try {
    const body = { op: form.dataset.op, args: argumentsOf(form) };
    if (dryRun) body.dry_run = true;
    else body.call_id = `page-${crypto.randomUUID()}`;
    const answer = await send("POST", "/exec", body);
    block.className = answer.ok ? "ok" : "failed";
    block.textContent = JSON.stringify(answer.body, null, 2);
  } catch (wrong) {
    block.className = "failed";
    block.textContent = String(wrong.message);
  }
  shown.replaceChildren(block);
  if (!block.textContent.includes('"job_id": "')) return;
  const link = document.createElement("a");
  const job = JSON.parse(block.textContent).job_id;
  link.href = `/ui/jobs/${encodeURIComponent(job)}`;
  link.textContent = `job ${job}`;
  shown.append(link);
}

for (const form of document.querySelectorAll("form.call")) {
  form.addEventListener("submit", (event) => { event.preventDefault(); call(form, false); });
  form.querySelector("[data-dry-run]").addEventListener("click", () => {
    if (form.reportValidity()) call(form, true);
  });
}

// A thread grows while it is looked at; the reply that a result answers is fetched again with its outcomes.
async function fragment(base, seq) {
  const answer = await fetch(`${base}${seq}`);
  if (!answer.ok) return null;
  const made = document.createElement("template");
  made.innerHTML = await answer.text(); // made by our server, everything in it escaped
  return made.content.querySelector("li");
}

function follow(list) {
  const base = list.dataset.fragments;
  const source = new EventSource(list.dataset.stream);
  let turn = Promise.resolve();
  source.addEventListener("message", (event) => {
    turn = turn.then(() => add(list, base, JSON.parse(event.data)));
  });
}

async function add(list, base, message) {
  const nearEnd = window.innerHeight + window.scrollY > document.body.scrollHeight - 200;
  if (!document.getElementById(`m${message.seq}`)) {
    const item = await fragment(base, message.seq);
    if (item) list.append(item);
  }
  const asked = [...list.children].find((item) => item.dataset.id === message.in_reply_to);
  if (asked) {
    const again = await fragment(base, asked.dataset.seq);
    if (again) asked.replaceWith(again);
  }
  if (nearEnd) window.scrollTo({ top: document.body.scrollHeight });
}

for (const list of document.querySelectorAll("[data-fragments]")) follow(list);

// A job's page is made anew when the job takes a step.
for (const line of document.querySelectorAll("[data-reload]")) {
  const source = new EventSource(line.dataset.stream);
  for (const type of ["progress", "warning", "succeeded", "failed"]) {
    source.addEventListener(type, () => { source.close(); location.reload(); });
  }
}

// Relative times.
const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function distance(moment) {
  const away = (Date.now() - new Date(moment).getTime()) / 1000;
  for (const [size, unit] of units) {
    const count = Math.floor(Math.abs(away) / size);
    if (count) {
      const words = `${count} ${unit}${count > 1 ? "s" : ""}`;
      return away > 0 ? `${words} ago` : `in ${words}`;
    }
  }
  return "now";
}
setInterval(() => {
  for (const time of document.querySelectorAll("time[datetime]")) time.textContent = distance(time.dateTime);
}, 10000);
