import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, TEST_IDENTITY } from "../../apiserver/testing/server.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../apiserver/framework/exchange.ts";
import { createLogger, formatHuman } from "../../base/logger.ts";
import { joinBytes } from "../data/join-bytes.ts";
import { encodeBase64Url } from "../../api/machinery/codec/base64-url.ts";
import { textAt } from "../data/fields.ts";
import { SESSION_PREFIX } from "../data/paths.ts";
import { withDashboard } from "./dashboard-exchange.ts";
import { CODE_LIFETIME_MS, CODES_MAX, SESSION_IDLE_MS, SESSION_LIFETIME_MS } from "./sessions.ts";

const USERS = new Map([
  ["anna-token", { name: "anna", groups: ["system:masters"] }],
  ["bob-token", { name: "bob", groups: [] }],
]);

/** Of the form that a page chooses. */
const TOKEN = `${SESSION_PREFIX}${"a".repeat(43)}`;
const OTHER_TOKEN = `${SESSION_PREFIX}${"b".repeat(43)}`;

async function startDashboard() {
  const identity = { ...TEST_IDENTITY, staticTokens: USERS };
  const started = await startServer({ identity, config: { authorizationModes: ["RBAC"] } });
  const lines: string[] = [];
  const log = createLogger({ sink: (line) => void lines.push(formatHuman(line)), clock: started.clock, level: "debug" });
  let secrets = 0;
  const exchange = withDashboard(started.server.exchange, {
    ...{ clock: started.clock, log, secret: () => `code-${++secrets}` },
    runWhy: (question) => Promise.resolve(JSON.stringify(question)),
  });
  const call = async (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = "") => {
    const answer = await exchange(requestOf(method, path, headers, body));
    return callOf(answer);
  };
  const code = async (token: string) => (await call("GET", "/dashboard/code", bearer(token))).body["code"] as string;
  const login = (given: string, token: string, headers: Readonly<Record<string, string>> = {}) =>
    call("POST", "/dashboard/session", headers, JSON.stringify({ code: given, token }));
  const user = async (token: string) => {
    const review = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const headers = { ...bearer(token), "content-type": "application/json" };
    const { body, answer } = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", headers, review);
    return answer === 201 ? textAt(body, "status", "userInfo", "username") : answer;
  };
  return { ...started, lines, exchange, call, code, login, user };
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

function requestOf(method: string, path: string, given: Readonly<Record<string, string>>, text: string): ExchangeRequest {
  const bytes = new TextEncoder().encode(text);
  const headers: Readonly<Record<string, string>> = { ...given, ...(text === "" ? {} : { "content-length": String(bytes.length) }) };
  return {
    ...{ method, path, query: "" },
    header: (name) => headers[name],
    headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(bytes),
    signal: new AbortController().signal,
    cancel: () => undefined,
    peer: { address: "127.0.0.1", isLoopback: true },
  };
}

function callOf(answer: ExchangeAnswer) {
  if (!("body" in answer)) throw new Error("The answer is a stream");
  const text = new TextDecoder().decode(joinBytes(answer.body));
  const isJson = String(answer.headers["content-type"] ?? "").startsWith("application/json");
  return {
    answer: answer.code,
    headers: answer.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as Readonly<Record<string, unknown>>,
  };
}

test("a code opens one session, whose requests are those of the user who requested the code", async () => {
  await using dashboard = await startDashboard();
  const code = await dashboard.code("bob-token");

  equal((await dashboard.login(code, TOKEN)).answer, 204);
  equal(await dashboard.user(TOKEN), "bob");
  const listed = await dashboard.call("GET", "/api/v1/secrets", bearer(TOKEN));
  equal(listed.answer, 403);
  match(listed.text, /User \\"bob\\" cannot list resource \\"secrets\\"/);

  equal((await dashboard.login(code, OTHER_TOKEN)).answer, 401);
  equal(await dashboard.user(OTHER_TOKEN), 401);
});

test("a page that lost the response can repeat the login with the same token", async () => {
  await using dashboard = await startDashboard();
  const code = await dashboard.code("anna-token");

  equal((await dashboard.login(code, TOKEN)).answer, 204);
  equal((await dashboard.login(code, TOKEN)).answer, 204);

  equal(await dashboard.user(TOKEN), "anna");
});

test("a session token in a subprotocol of a WebSocket is replaced by the credential", async () => {
  await using dashboard = await startDashboard();
  await dashboard.login(await dashboard.code("bob-token"), TOKEN);
  const protocol = `base64url.bearer.authorization.k8s.io.${encodeBase64Url(new TextEncoder().encode(TOKEN))}`;
  const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-protocol": `v5.channel.k8s.io, ${protocol}` };

  const { answer, text } = await dashboard.call("GET", "/api/v1/namespaces/default/pods/web/exec", headers);

  equal(answer, 403);
  match(text, /User \\"bob\\"/);
});

test("codes and sessions expire, and logout ends a session", async () => {
  await using dashboard = await startDashboard();
  const { clock, code, login, user, call } = dashboard;
  const late = await code("anna-token");
  await clock.advance(CODE_LIFETIME_MS);
  equal((await login(late, TOKEN)).answer, 401);

  await login(await code("anna-token"), TOKEN);
  await clock.advance(SESSION_IDLE_MS - 1);
  equal(await user(TOKEN), "anna");
  await clock.advance(SESSION_IDLE_MS);
  equal(await user(TOKEN), 401);

  await login(await code("anna-token"), TOKEN);
  for (let elapsedMs = 0; elapsedMs < SESSION_LIFETIME_MS; elapsedMs += SESSION_IDLE_MS / 2) {
    equal(await user(TOKEN), "anna");
    await clock.advance(SESSION_IDLE_MS / 2);
  }
  equal(await user(TOKEN), 401);

  await login(await code("anna-token"), OTHER_TOKEN);
  equal((await call("DELETE", "/dashboard/session", bearer(OTHER_TOKEN))).answer, 204);
  equal(await user(OTHER_TOKEN), 401);
});

describe("logins that are rejected", () => {
  const rows: readonly { it: string; code?: string; token?: string; headers?: Readonly<Record<string, string>>; answer: number }[] = [
    { it: "an unknown code", code: "code-77", answer: 401 },
    { it: "a token of another form", token: "short", answer: 401 },
    { it: "a token without the prefix", token: "a".repeat(58), answer: 401 },
    { it: "a request from another site", headers: { "sec-fetch-site": "cross-site" }, answer: 403 },
    { it: "a request from another port of the same site", headers: { "sec-fetch-site": "same-site" }, answer: 403 },
  ];
  for (const { it, code, token = TOKEN, headers, answer } of rows) {
    test(it, async () => {
      await using dashboard = await startDashboard();
      const good = await dashboard.code("anna-token");
      equal((await dashboard.login(code ?? good, token, headers)).answer, answer);
      notEqual(await dashboard.user(TOKEN), "anna");
    });
  }

  test("a body that is not JSON", async () => {
    await using dashboard = await startDashboard();
    equal((await dashboard.call("POST", "/dashboard/session", {}, "{")).answer, 401);
  });
});

describe("codes are created only for authenticated clients that are not browsers", () => {
  const rows = [
    { it: "no credential", headers: {}, answer: 401 },
    { it: "an unknown token", headers: bearer("unknown"), answer: 401 },
    { it: "a browser with a credential", headers: { ...bearer("anna-token"), "sec-fetch-site": "none" }, answer: 403 },
    { it: "another origin", headers: { ...bearer("anna-token"), origin: "https://other.example" }, answer: 403 },
  ];
  for (const { it, headers, answer } of rows) {
    test(it, async () => {
      await using dashboard = await startDashboard();
      equal((await dashboard.call("GET", "/dashboard/code", headers)).answer, answer);
    });
  }
});

test("a session cannot create codes, and other bearer tokens are passed on unchanged", async () => {
  await using dashboard = await startDashboard();
  await dashboard.login(await dashboard.code("anna-token"), TOKEN);

  equal((await dashboard.call("GET", "/dashboard/code", bearer(TOKEN))).answer, 401);
  equal(await dashboard.user("bob-token"), "bob");
});

test("every response of the dashboard forbids framing, inline code and other sources, and needs no credential", async () => {
  await using dashboard = await startDashboard();
  const page = await dashboard.call("GET", "/dashboard/");
  equal(page.answer, 200);
  match(page.text, /^<!doctype html>/);
  const script = /src="([^"]+)"/.exec(page.text)?.[1] ?? "";

  for (const path of ["/dashboard", "/dashboard/", `/dashboard/${script}`, "/dashboard/none.js", "/dashboard/code"]) {
    const { headers } = await dashboard.call("GET", path);
    const policy = String(headers["content-security-policy"]);
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'none'"])
      equal(policy.split("; ").includes(part), true, `${path}: ${part}`);
    equal(/unsafe|\*|https?:/.test(policy), false, path);
    deepEqual(
      [headers["x-content-type-options"], headers["x-frame-options"], headers["referrer-policy"], headers["set-cookie"]],
      ["nosniff", "DENY", "no-referrer", undefined],
    );
  }
  match(String((await dashboard.call("GET", `/dashboard/${script}`)).headers["cache-control"]), /immutable/);
  equal((await dashboard.call("GET", "/dashboard/none.js")).answer, 404);
  equal((await dashboard.call("PUT", "/dashboard/")).answer, 405);
});

test("the files of the page are compressed for clients that accept it, at most 400 KB together", async () => {
  await using dashboard = await startDashboard();
  const { pageFiles } = await import("./generated/page.ts");
  const plain = await dashboard.call("GET", "/dashboard/");

  const packed = await dashboard.exchange(requestOf("GET", "/dashboard/", { "accept-encoding": "gzip, br" }, ""));
  equal("headers" in packed && packed.headers["content-encoding"], "gzip");
  equal(plain.headers["content-encoding"], undefined);
  const bytes = pageFiles.reduce((sum, { content }) => sum + (content.length * 3) / 4, 0);
  equal(bytes < 400_000, true, `${bytes} bytes`);
});

test("only authenticated users get an explanation, which is computed with their own token", async () => {
  await using dashboard = await startDashboard();
  await dashboard.login(await dashboard.code("bob-token"), TOKEN);
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const request = { ...requestOf("GET", "/dashboard/why", headers, ""), query: "resource=pods&namespace=shop&name=web" };
    return callOf(await dashboard.exchange(request));
  };

  const { body, headers } = await ask(bearer(TOKEN));
  deepEqual(body, { resource: "pods", namespace: "shop", name: "web", tries: false, token: TOKEN });
  equal(headers["cache-control"], "no-store");
  equal((await ask(bearer("anna-token"))).body["token"], "anna-token");
  for (const rejected of [{}, bearer("unknown"), bearer(OTHER_TOKEN)]) equal((await ask(rejected)).answer, 401);
});

test("no code and no token is logged", async () => {
  await using dashboard = await startDashboard();
  const code = await dashboard.code("anna-token");
  await dashboard.login(code, TOKEN);
  await dashboard.login("code-77", TOKEN);

  equal(
    dashboard.lines.some((line) => line.includes("anna")),
    true,
  );
  for (const line of dashboard.lines) for (const secret of [code, TOKEN, "anna-token"]) equal(line.includes(secret), false, line);
});

test("a user who requests many codes displaces none of another user", async () => {
  await using dashboard = await startDashboard();
  const code = await dashboard.code("anna-token");
  const oldest = await dashboard.code("bob-token");
  for (let index = 0; index < CODES_MAX.all; index++) await dashboard.code("bob-token");

  equal((await dashboard.login(oldest, OTHER_TOKEN)).answer, 401);
  equal((await dashboard.login(code, TOKEN)).answer, 204);
  equal(await dashboard.user(TOKEN), "anna");
});

test("a login whose body is too large is rejected", async () => {
  await using dashboard = await startDashboard();
  const request = requestOf("POST", "/dashboard/session", {}, "{}");

  const answer = await dashboard.exchange({ ...request, body: () => Promise.reject(new Error("the body is too large")) });

  equal(callOf(answer).answer, 401);
});
