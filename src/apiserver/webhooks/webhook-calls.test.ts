import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { seededRandom } from "../../base/random.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Objects } from "../framework/objects.ts";
import {
  IncompleteResponse,
  type WebhookCall,
  type WebhookClientConfig,
  type WebhookPost,
  type WebhookReply,
} from "../framework/webhook-caller.ts";
import { webhookCalls } from "./webhook-calls.ts";

function jsonReply(value: unknown, code = 200): WebhookReply {
  return { code, contentType: "application/json", body: new TextEncoder().encode(JSON.stringify(value)) };
}

function textReply(text: string, code: number): WebhookReply {
  return { code, contentType: "text/plain", body: new TextEncoder().encode(text) };
}

const READY = { ready: true };
const PORTS = [{ name: "https", port: 8443 }];

function slice(name: string, more: JsonObject): JsonObject {
  return { metadata: { name, namespace: "shop", labels: { "kubernetes.io/service-name": "hook" } }, addressType: "IPv4", ...more };
}

/** Objects of the namespace "shop": by default a Service "hook" with one ready endpoint. */
function objectsOf({ services, slices }: { services?: Record<string, JsonObject>; slices?: readonly JsonObject[] } = {}): Pick<
  Objects,
  "get" | "list"
> {
  const known: Readonly<Record<string, JsonObject>> = services ?? {
    hook: { spec: { ports: [{ name: "https", port: 443, targetPort: 8443 }], ipFamilies: ["IPv4"] } },
  };
  const all = slices ?? [slice("hook-1", { ports: PORTS, endpoints: [{ addresses: ["10.0.0.7"], conditions: READY }] })];
  return {
    get: <T>(_kind: unknown, { name }: { readonly name: string }) => Promise.resolve(known[name] as T),
    list: <T>() => Promise.resolve(all as readonly T[]),
  };
}

function given(post: (request: WebhookPost) => Promise<WebhookReply>, objects = objectsOf()) {
  const clock = virtualClock();
  const calls = webhookCalls({ objects, random: seededRandom(1), clock, transport: { post } });
  const call = (client: WebhookClientConfig, more: Partial<WebhookCall> = {}) =>
    calls.call({ client, body: { kind: "Review" }, timeoutMs: 10_000, ...more });
  return { clock, call };
}

const SERVICE = { service: { namespace: "shop", name: "hook", path: "/admit" } };

test("a Service is reached at the address of a ready endpoint, by its own name", async () => {
  const posts: WebhookPost[] = [];
  const { call } = given((request) => {
    posts.push(request);
    return Promise.resolve(jsonReply({ ok: true }));
  });

  const answer = await call({ ...SERVICE, caBundle: btoa("PEM") }, { sendsTimeout: true });

  deepEqual(answer, { ok: true });
  const [{ signal: _signal, ...sent }] = posts as [WebhookPost];
  deepEqual(sent, {
    target: "hook.shop.svc:443",
    scheme: "https",
    host: "10.0.0.7",
    port: 8443,
    serverName: "hook.shop.svc",
    path: "/admit?timeout=10s",
    body: '{"kind":"Review"}',
    authorities: "PEM",
    answerBytesMax: 16 * 1024 * 1024,
  });
});

function busy(code: number, retryAfter?: string): WebhookReply {
  return { ...textReply("busy", code), ...(retryAfter === undefined ? {} : { retryAfter }) };
}

test("a call is repeated after the time that the webhook asks for", async () => {
  const sentAtMs: number[] = [];
  const { clock, call } = given(() => {
    sentAtMs.push(clock.monotonic());
    return Promise.resolve([busy(429, "2"), busy(503, "1")][sentAtMs.length - 1] ?? jsonReply({ ok: true }));
  });

  const calling = call(SERVICE);
  await clock.advance(5_000);

  deepEqual(await calling, { ok: true });
  deepEqual(sentAtMs, [0, 2_000, 3_000]);
});

for (const [title, reply, calls] of [
  ["429 without Retry-After", busy(429), 1],
  ["429 with a date", busy(429, "Wed, 21 Oct 2026 07:28:00 GMT"), 1],
  ["400 with Retry-After", busy(400, "1"), 1],
  ["429 eleven times", busy(429, "0"), 11],
] as const) {
  test(`${title} is the result of a call`, async () => {
    let count = 0;
    const { clock, call } = given(() => (count++, Promise.resolve(reply)));

    const calling = call(SERVICE).then(
      () => "",
      (error: Error) => error.message,
    );
    await clock.advance(1_000);

    notEqual(await calling, "");
    equal(count, calls);
  });
}

test("a webhook that asks for more time than the call has fails with the deadline", async () => {
  const { clock, call } = given(() => Promise.resolve(busy(429, "60")));

  const calling = rejects(call(SERVICE), { message: "context deadline exceeded" });
  await clock.advance(11_000);

  await calling;
});

for (const { url, path, target, host, port } of [
  { url: "https://hooks.example/a/b", path: "/a/b", target: "hooks.example", host: "hooks.example", port: 443 },
  { url: "https://hooks.example:443", path: "/", target: "hooks.example:443", host: "hooks.example", port: 443 },
  { url: "https://[::1]:9443/x/", path: "/x", target: "[::1]:9443", host: "::1", port: 9443 },
]) {
  test(`the URL ${url} is called at ${host}, port ${port}, path ${path}`, async () => {
    const posts: WebhookPost[] = [];
    const { call } = given((request) => {
      posts.push(request);
      return Promise.resolve(jsonReply({}));
    });

    await call({ url });

    deepEqual(
      posts.map((sent) => ({ path: sent.path, target: sent.target, host: sent.host, port: sent.port })),
      [{ path, target, host, port }],
    );
  });
}

const POST = 'Post "https://hook.shop.svc:443/admit": ';
const NOT_READY = [slice("hook-1", { ports: PORTS, endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: false } }] })];

for (const { title, objects, says } of [
  { title: "does not exist", objects: objectsOf({ services: {} }), says: `${POST}service "hook" not found` },
  {
    title: "has no such port",
    objects: objectsOf({ services: { hook: { spec: { ports: [{ port: 80 }] } } } }),
    says: `${POST}no service port 443 found for service "hook"`,
  },
  { title: "has no ready endpoint", objects: objectsOf({ slices: NOT_READY }), says: `${POST}no endpoints available for service "hook"` },
]) {
  test(`calling a Service that ${title} fails with upstream's message`, async () => {
    const { call } = given(() => Promise.resolve(jsonReply({})), objects);
    await rejects(call(SERVICE), { message: says });
  });
}

test("an ExternalName Service is reached by that name", async () => {
  const hosts: string[] = [];
  const objects = objectsOf({ services: { hook: { spec: { type: "ExternalName", externalName: "hooks.example" } } } });
  const { call } = given(({ host, port }) => {
    hosts.push(`${host}:${port}`);
    return Promise.resolve(jsonReply({}));
  }, objects);

  await call(SERVICE);

  deepEqual(hosts, ["hooks.example:443"]);
});

for (const { reply, says } of [
  { reply: textReply("boom\n", 500), says: 'an error on the server ("boom") has prevented the request from succeeding' },
  { reply: textReply("moved", 302), says: "the server responded with the status code 302 but did not return more information" },
  { reply: textReply("who?", 404), says: "the server could not find the requested resource" },
  { reply: textReply("not you", 403), says: "not you" },
  { reply: jsonReply({ kind: "Status", apiVersion: "v1", status: "Failure", message: "too busy" }, 503), says: "too busy" },
  { reply: textReply("", 200), says: "0-length response with status code: 200 and content type: text/plain" },
  {
    reply: textReply("a: b: c", 200),
    says: "couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value",
  },
  {
    reply: textReply('{"a": b}', 200),
    says: "couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of value",
  },
]) {
  test(`a webhook's response ${reply.code} ${new TextDecoder().decode(reply.body)} is reported as upstream does`, async () => {
    const { call } = given(() => Promise.resolve(reply));
    await rejects(call(SERVICE), { message: says });
  });
}

test("a response in YAML is understood, whatever its content type", async () => {
  const { call } = given(() => Promise.resolve(textReply("kind: Review\nresponse: {allowed: true}\n", 200)));

  deepEqual(await call(SERVICE), { kind: "Review", response: { allowed: true } });
});

test("a response that ends early is reported without the request", async () => {
  const { call } = given(() => Promise.reject(new IncompleteResponse("unexpected EOF")));

  await rejects(call(SERVICE), { message: "unexpected EOF" });
});

test("a webhook that does not respond in time is reported with the deadline", async () => {
  const aborted: AbortSignal[] = [];
  const { call, clock } = given(({ signal }) => {
    aborted.push(signal);
    return new Promise(() => undefined);
  });

  const failing = rejects(call(SERVICE, { timeoutMs: 5_000 }), { message: `${POST}context deadline exceeded` });
  await clock.advance(5_000);

  await failing;
  equal(aborted[0]?.aborted, true);
});

test("a call whose client has disconnected is cancelled", async () => {
  const { call } = given(() => new Promise(() => undefined));
  const client = new AbortController();

  const failing = rejects(call(SERVICE, { signal: client.signal }), { message: `${POST}context canceled` });
  client.abort();

  await failing;
});
