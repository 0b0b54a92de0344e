/**
 * Provokes everything that could leak a secret: Secrets invalid in every possible way, wrong tokens, malformed files, a failing store. A
 * response must not contain a secret that its client did not send itself; what the client sent may be repeated only where upstream's
 * response does so, too (each such row says so). Log lines, at the most verbose level, and Events contain none at all: a test server checks
 * its log and rejects when it is closed.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { startServer } from "../../src/apiserver/testing/server.ts";
import { wrappedStore } from "../../src/apiserver/testing/wrapped-store.ts";
import { createLogger } from "../../src/base/logger.ts";
import { startProgram } from "../../src/host/processes/child-process.ts";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import { ApiServerProcess } from "../../src/testing/servers/api-server-process.ts";
import { startTestApiServer, type TestApiServer } from "../../src/testing/servers/api-server.ts";
import { memoryStore } from "../../src/testing/fixtures/memory-store.ts";
import { BOOTSTRAP_TOKEN, PLANTED, plantedIn, watchedLog } from "../../src/testing/fixtures/planted-secrets.ts";
import { virtualClock } from "../../src/testing/virtual-clock.ts";
import { LAUNCHER } from "../../src/testing/servers/launcher.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const PLANTED_SECRET = "/api/v1/namespaces/kube-system/secrets/planted";
/** A secret sent by the client. */
const OWN = PLANTED.secretData;
const BASE64 = btoa(OWN);
const STRICT = "?fieldValidation=Strict";
const JSON_TYPE = "application/json";
const YAML = "application/yaml";
const [MERGE, STRATEGIC, JSON_PATCH, APPLY] = [
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/json-patch+json",
  "application/apply-patch+yaml",
];

interface Row {
  readonly it: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: object | string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without the administrator's token. */
  readonly isAnonymous?: true;
  readonly code: number;
  /** Upstream's response repeats what was sent, too. */
  readonly quotes?: true;
}

let server: TestApiServer;

before(async () => {
  server = await startTestApiServer();
  const made = [
    { metadata: { name: "fixed" }, immutable: true, stringData: { key: OWN } },
    { metadata: { name: "plain" }, stringData: { key: OWN } },
  ];
  for (const secret of made) equal((await server.ask("POST", SECRETS, secret)).code, 201);
});
after(() => server.close());

async function send({ method = "POST", path, body, type = JSON_TYPE, headers = {}, isAnonymous }: Omit<Row, "it" | "code">) {
  const identity = isAnonymous === true ? {} : adminOf(await adminKubeconfig());
  const all = { ...(body === undefined ? {} : { "content-type": type }), ...headers };
  const asked = request(`${server.url}${path}`, { method, rejectUnauthorized: false, agent: false, headers: all, ...identity });
  asked.end(typeof body === "object" ? JSON.stringify(body) : body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { code: answer.statusCode ?? 0, body: await text(answer), headers: JSON.stringify(answer.rawHeaders) };
}

interface Kubeconfig {
  readonly users: readonly [{ readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }];
}

let kubeconfig: Kubeconfig | undefined;

async function adminKubeconfig(): Promise<Kubeconfig> {
  kubeconfig ??= JSON.parse(await readFile(server.kubeconfig, "utf8")) as Kubeconfig;
  return kubeconfig;
}

function adminOf({ users: [{ user }] }: Kubeconfig) {
  const [cert, key] = [user["client-certificate-data"], user["client-key-data"]].map((data) => Buffer.from(data, "base64"));
  return { cert, key };
}

const secret = (more: object): object => ({ metadata: { name: "new" }, ...more });
const opaque = (type: string, data: Record<string, string>): object => secret({ type, stringData: data });
const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const HOOK = {
  metadata: { name: "hook" },
  webhooks: [
    {
      name: "a.example.com",
      clientConfig: { url: `https://user:${PLANTED.password}@hook.example.com/x` },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
};

const ROWS: readonly Row[] = [
  { it: "data that is not base64", path: SECRETS, body: secret({ data: { key: OWN } }), code: 400 },
  { it: "data that is a string", path: SECRETS, body: secret({ data: BASE64 }), code: 400 },
  { it: "data that is a list", path: SECRETS, body: secret({ data: [OWN] }), code: 400 },
  { it: "data with an object as a value", path: SECRETS, body: secret({ data: { key: { inner: OWN } } }), code: 400 },
  { it: "stringData with an object as a value", path: SECRETS, body: secret({ stringData: { key: { inner: OWN } } }), code: 400 },
  { it: "stringData with a list as a value", path: SECRETS, body: secret({ stringData: { key: [OWN] } }), code: 400 },
  { it: "an unknown field", path: `${SECRETS}${STRICT}`, body: secret({ dat: { key: OWN } }), code: 400 },
  {
    it: "an unknown field, with a warning",
    path: `${SECRETS}?fieldValidation=Warn&dryRun=All`,
    body: secret({ dat: { key: OWN } }),
    code: 201,
  },
  {
    it: "a duplicate field",
    path: `${SECRETS}${STRICT}`,
    body: `{"metadata":{"name":"new"},"stringData":{"k":"${OWN}","k":"${OWN}"}}`,
    code: 400,
  },
  {
    it: "a duplicate field in YAML",
    path: `${SECRETS}${STRICT}`,
    type: YAML,
    body: `metadata: {name: new}\nstringData:\n  k: ${OWN}\n  k: ${OWN}\n`,
    code: 400,
  },
  { it: "a truncated document", path: SECRETS, body: `{"metadata":{"name":"new"},"stringData":{"k":"${OWN}"`, code: 400 },
  { it: "a document with an invalid character after the secret", path: SECRETS, body: `{"stringData":{"k":"${OWN}"x}}`, code: 400 },
  { it: "a document that is only the secret", path: SECRETS, body: OWN, code: 400 },
  { it: "a document that is the secret as a string", path: SECRETS, body: JSON.stringify(OWN), code: 400 },
  { it: "YAML that is only the secret", path: SECRETS, type: YAML, body: OWN, code: 400 },
  { it: "YAML with wrong indentation", path: SECRETS, type: YAML, body: `stringData:\n  k: ${OWN}\n x: "${OWN}\n`, code: 400 },
  { it: "an unsupported content type", path: SECRETS, type: "text/plain", body: OWN, code: 415 },
  {
    it: "another kind",
    path: SECRETS,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new" }, data: { key: OWN } },
    code: 400,
  },
  { it: "an invalid name", path: SECRETS, body: { metadata: { name: "A_" }, stringData: { key: OWN } }, code: 422 },
  { it: "an invalid key", path: SECRETS, body: secret({ stringData: { "a b": OWN } }), code: 422 },
  { it: "a Secret above its size limit", path: SECRETS, body: secret({ stringData: { key: OWN.repeat(42_000) } }), code: 422 },
  { it: "a request above its size limit", path: SECRETS, body: secret({ stringData: { key: OWN.repeat(160_000) } }), code: 413 },
  {
    it: "a registry configuration that is not JSON",
    path: SECRETS,
    body: opaque("kubernetes.io/dockerconfigjson", { ".dockerconfigjson": `{"auths": ${OWN}` }),
    code: 422,
  },
  {
    it: "a legacy registry configuration that is not JSON",
    path: SECRETS,
    body: opaque("kubernetes.io/dockercfg", { ".dockercfg": OWN }),
    code: 422,
  },
  {
    it: "a TLS Secret without its certificate",
    path: SECRETS,
    body: opaque("kubernetes.io/tls", { "tls.key": PLANTED.privateKey }),
    code: 422,
  },
  { it: "an SSH key under another name", path: SECRETS, body: opaque("kubernetes.io/ssh-auth", { key: PLANTED.privateKey }), code: 422 },
  { it: "a password without a user name", path: SECRETS, body: opaque("kubernetes.io/basic-auth", { pass: PLANTED.password }), code: 422 },
  {
    it: "a token without its service account",
    path: SECRETS,
    body: opaque("kubernetes.io/service-account-token", { token: PLANTED.staticToken }),
    code: 422,
  },
  {
    it: "a change of an immutable Secret",
    method: "PUT",
    path: `${SECRETS}/fixed`,
    body: { metadata: { name: "fixed" }, immutable: true, stringData: { key: `${OWN}2` } },
    code: 422,
  },
  {
    it: "a change of an immutable Secret, by a patch",
    method: "PATCH",
    path: `${SECRETS}/fixed`,
    type: MERGE,
    body: { stringData: { key: `${OWN}2` } },
    code: 422,
  },
  { it: "an immutable Secret made mutable", method: "PATCH", path: `${SECRETS}/fixed`, type: MERGE, body: { immutable: false }, code: 422 },
  { it: "a change of the type", method: "PATCH", path: `${SECRETS}/plain`, type: MERGE, body: { type: "x/y" }, code: 422 },
  {
    it: "an old resourceVersion",
    method: "PUT",
    path: `${SECRETS}/plain`,
    body: { metadata: { name: "plain", resourceVersion: "1" }, stringData: { key: OWN } },
    code: 409,
  },
  { it: "an existing Secret", path: SECRETS, body: { metadata: { name: "plain" }, stringData: { key: OWN } }, code: 409 },
  {
    it: "a patch of another type",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: STRATEGIC,
    body: { data: OWN },
    code: 422,
    quotes: true,
  },
  {
    it: "a strategic patch with an unknown directive",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: STRATEGIC,
    body: { data: { $patch: OWN } },
    code: 500,
    quotes: true,
  },
  { it: "a patch that is not an object", method: "PATCH", path: `${SECRETS}/plain`, type: MERGE, body: JSON.stringify(OWN), code: 400 },
  { it: "a JSON patch that is not a list", method: "PATCH", path: `${SECRETS}/plain`, type: JSON_PATCH, body: { value: OWN }, code: 400 },
  {
    it: "a JSON patch with an unknown operation",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: JSON_PATCH,
    body: [{ op: "x", path: "/data/key", value: BASE64 }],
    code: 422,
  },
  {
    it: "a JSON patch with a missing path",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: JSON_PATCH,
    body: [{ op: "replace", path: "/a/b", value: BASE64 }],
    code: 422,
  },
  {
    it: "a JSON patch with an invalid value",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: JSON_PATCH,
    body: [{ op: "replace", path: "/data/key", value: OWN }],
    code: 422,
    quotes: true,
  },
  {
    it: "a failing JSON patch test of the stored value",
    method: "PATCH",
    path: PLANTED_SECRET,
    type: JSON_PATCH,
    body: [{ op: "test", path: "/data/key", value: "eA==" }],
    code: 422,
  },
  {
    it: "an apply without a field manager",
    method: "PATCH",
    path: `${SECRETS}/plain`,
    type: APPLY,
    body: `apiVersion: v1\nkind: Secret\nmetadata: {name: plain}\nstringData: {key: ${OWN}}\n`,
    code: 422,
  },
  {
    it: "an apply that conflicts with another manager",
    method: "PATCH",
    path: `${SECRETS}/plain?fieldManager=f`,
    type: APPLY,
    body: `apiVersion: v1\nkind: Secret\nmetadata: {name: plain}\ndata: {key: ${btoa(`${OWN}3`)}}\n`,
    code: 409,
  },
  {
    it: "an apply of an unknown field",
    method: "PATCH",
    path: `${SECRETS}/plain?fieldManager=f`,
    type: APPLY,
    body: `apiVersion: v1\nkind: Secret\nmetadata: {name: plain}\ndat: {key: ${OWN}}\n`,
    code: 500,
  },
  {
    it: "an apply of invalid YAML",
    method: "PATCH",
    path: `${SECRETS}/plain?fieldManager=f`,
    type: APPLY,
    body: `data: {key: ${OWN}\n x`,
    code: 400,
  },
  { it: "a GET with a body", method: "DELETE", path: `${SECRETS}/none`, body: { preconditions: OWN }, code: 400 },
  { it: "an unknown token", method: "GET", path: "/api", headers: bearer(PLANTED.password), isAnonymous: true, code: 401 },
  {
    it: "a password",
    method: "GET",
    path: "/metrics",
    headers: { authorization: `Basic ${btoa(`user:${PLANTED.password}`)}` },
    isAnonymous: true,
    code: 403,
  },
  {
    it: "a token in a query",
    method: "GET",
    path: `/metrics?token=${PLANTED.staticToken}&access_token=${PLANTED.staticToken}`,
    isAnonymous: true,
    code: 403,
  },
  {
    it: "a static token without permission",
    method: "GET",
    path: PLANTED_SECRET,
    headers: bearer(PLANTED.staticToken),
    isAnonymous: true,
    code: 403,
  },
  {
    it: "a bootstrap token without permission",
    method: "GET",
    path: PLANTED_SECRET,
    headers: bearer(BOOTSTRAP_TOKEN),
    isAnonymous: true,
    code: 403,
  },
  {
    it: "a bootstrap token with a wrong secret",
    method: "GET",
    path: "/api",
    headers: bearer("plantd.0123456789abcdef"),
    isAnonymous: true,
    code: 401,
  },
  {
    it: "a token in the format of ours",
    method: "GET",
    path: "/api",
    headers: bearer(`${btoa('{"alg":"none"}')}.${btoa(`{"iss":"x","p":"${OWN}"}`)}.AAAA`),
    isAnonymous: true,
    code: 401,
  },
  { it: "a review of an unknown token", path: REVIEWS, body: { spec: { token: PLANTED.password } }, code: 201, quotes: true },
  { it: "a review of a bootstrap token", path: REVIEWS, body: { spec: { token: BOOTSTRAP_TOKEN } }, code: 201, quotes: true },
  { it: "an invalid review", path: REVIEWS, body: { spec: { token: [PLANTED.password] } }, code: 400 },
  {
    it: "a token of a missing service account",
    path: "/api/v1/namespaces/default/serviceaccounts/none/token",
    body: { spec: { boundObjectRef: { kind: "Secret", name: "plain" } } },
    code: 404,
  },
  {
    it: "a token bound to a missing object",
    path: "/api/v1/namespaces/kube-system/serviceaccounts/default/token",
    body: { spec: { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "none" } } },
    code: 404,
  },
  {
    it: "a webhook with a password in its URL",
    path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: HOOK,
    code: 422,
    quotes: true,
  },
  {
    it: "a Secret as a table",
    method: "GET",
    path: PLANTED_SECRET,
    headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
    code: 200,
  },
  {
    it: "a Secret as its metadata",
    method: "GET",
    path: PLANTED_SECRET,
    headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
    code: 200,
  },
  {
    it: "all Secrets as a table",
    method: "GET",
    path: "/api/v1/secrets",
    headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
    code: 200,
  },
  { it: "a resourceVersion in the future", method: "GET", path: "/api/v1/secrets?resourceVersion=99999999&timeout=1s", code: 504 },
  { it: "an invalid continue token", method: "GET", path: "/api/v1/secrets?limit=1&continue=x", code: 400 },
];

describe("no response contains a secret that its client may not read", () => {
  for (const { it, code, quotes, ...sent } of ROWS) {
    test(`the response to ${it} contains no secret but the client's own`, async () => {
      const answer = await send(sent);
      equal(answer.code, code, plantedIn(answer.body) === undefined ? answer.body : "(the response contains a secret)");
      const found = plantedIn(answer.body) ?? plantedIn(answer.headers);
      equal(found !== undefined, quotes === true, `the response contains ${found}`);
    });
  }
});

test("metrics and debug endpoints of the server contain no secret", async () => {
  for (const path of [
    "/metrics",
    "/readyz?verbose",
    "/livez?verbose",
    "/healthz?verbose",
    "/version",
    "/openapi/v3",
    "/openid/v1/jwks",
    "/api/v1",
  ]) {
    const { code, body } = await server.ask("GET", path);
    deepEqual([path, code, plantedIn(body)], [path, 200, undefined]);
  }
});

test("no stored object except for Secrets contains a secret, in particular no Event", async () => {
  const groups = JSON.parse((await server.ask("GET", "/apis")).body) as { groups: { preferredVersion: { groupVersion: string } }[] };
  const roots = ["/api/v1", ...groups.groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  for (const root of roots) {
    const { resources } = JSON.parse((await server.ask("GET", root)).body) as { resources: { name: string; verbs: string[] }[] };
    for (const { name, verbs } of resources) {
      if (!verbs.includes("list") || name === "secrets") continue;
      equal(plantedIn((await server.ask("GET", `${root}/${name}`)).body), undefined, `${root}/${name}`);
    }
  }
});

test("a requested token is in the response and in no log line", async () => {
  const { code, body } = await server.ask("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", { spec: {} });
  const { token } = (JSON.parse(body) as { status: { token: string } }).status;
  equal(code, 201);
  const self = await send({
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: {},
    headers: bearer(token),
    isAnonymous: true,
  });
  ok(self.code === 201 && !self.body.includes(token));
});

describe("a failing store is reported without the content that was to be written, in response and log", () => {
  for (const message of ["the disk is full", "boom"]) {
    test(message, async () => {
      const clock = virtualClock();
      const watched = watchedLog();
      const store = memoryStore(clock);
      let isBroken = false;
      const commit: typeof store.commit = (...all) => (isBroken ? Promise.reject(new Error(message)) : store.commit(...all));
      const log = createLogger({ sink: watched.sink, clock, level: "debug" });
      await using broken = await startServer({ clock, store: wrappedStore(store, { commit }), log });
      equal((await broken.call("POST", SECRETS, { metadata: { name: "a" }, stringData: { key: OWN } })).code, 201);
      isBroken = true;
      for (const [method, path, body] of [
        ["POST", SECRETS, { metadata: { name: "b" }, stringData: { key: OWN } }],
        ["PUT", `${SECRETS}/a`, { metadata: { name: "a" }, stringData: { key: `${OWN}2` } }],
        ["DELETE", `${SECRETS}/a`, {}],
      ] as const) {
        const answer = await broken.call(method, path, body);
        ok(answer.code >= 500 && plantedIn(answer.text) === undefined, `${method}: ${answer.code}`);
      }
      watched.check();
    });
  }
});

describe("the k8ts program with --verbose prints no secret", () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  before(async () => {
    directory = await makeTemporaryDirectory("k8ts-planted-");
  });
  after(() => directory[Symbol.asyncDispose]());

  test("the verbose k8ts program prints no secret while it serves", async () => {
    await using started = new ApiServerProcess({ directory: directory.path, flags: ["--store=memory"] });
    await started.start();
    using client = started.client();
    await client.ask("POST", SECRETS, secret({ data: { key: OWN } }));
    await client.ask("PATCH", PLANTED_SECRET, { data: { key: OWN } });
    await client.ask("POST", REVIEWS, { spec: { token: PLANTED.password } });
    await client.ask("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", { spec: {} });
    await started.kill();
    ok(started.output.length > 0);
  });

  const pem = ["-----BEGIN EC", `PRIVATE KEY-----\n${btoa(PLANTED.privateKey)}\n-----END EC`, "PRIVATE KEY-----\n"].join(" ");
  const configuration = (url: string) =>
    JSON.stringify({
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "AuthenticationConfiguration",
      jwt: [{ issuer: { url, audiences: ["a"] }, claimMappings: { username: { claim: "sub", prefix: "" } } }],
    });
  const STARTS: readonly (readonly [it: string, flags: readonly string[], file?: string])[] = [
    ["a token file with too few columns", ["--token-auth-file=FILE"], `${PLANTED.staticToken},ann\n`],
    ["a token file with an unterminated quote", ["--token-auth-file=FILE"], `"${PLANTED.staticToken},ann,1\n`],
    ["a token file with a quote inside of a field", ["--token-auth-file=FILE"], `a"${PLANTED.staticToken},ann,1\n`],
    ["an invalid token signing key", ["--service-account-signing-key-file=FILE"], pem],
    ["an invalid token verification key", ["--service-account-key-file=FILE"], pem],
    ["a client CA file that contains a key", ["--client-ca-file=FILE"], pem],
    ["a front proxy CA file that contains a key", ["--requestheader-client-ca-file=FILE"], pem],
    ["an issuer with a password in its URL", [`--oidc-issuer-url=https://user:${PLANTED.password}@issuer.example`, "--oidc-client-id=x"]],
    [
      "an issuer with a password in its URL, without TLS",
      [`--oidc-issuer-url=http://user:${PLANTED.password}@issuer.example`, "--oidc-client-id=x"],
    ],
    [
      "an authentication configuration with a password in its URL",
      ["--authentication-config=FILE"],
      configuration(`https://user:${PLANTED.password}@issuer.example`),
    ],
    [
      "an authentication configuration that is not YAML",
      ["--authentication-config=FILE"],
      `jwt: [{ issuer: { url: "https://user:${PLANTED.password}@issuer.example\n`,
    ],
    [
      "an authentication configuration with an unknown field",
      ["--authentication-config=FILE"],
      configuration("https://x").replace('"jwt"', `"clientSecret":"${PLANTED.password}","jwt"`),
    ],
    ["an etcd endpoint with a password in its URL", [`--etcd-servers=https://user:${PLANTED.password}@127.0.0.1:1`]],
    ["an invalid etcd client key", ["--etcd-servers=https://127.0.0.1:1", "--etcd-keyfile=FILE", "--etcd-certfile=FILE"], pem],
  ];
  for (const [index, [it, flags, content]] of STARTS.entries()) {
    test(`the k8ts program prints no secret when started with ${it}`, async () => {
      const file = join(directory.path, `file-${index}`);
      if (content !== undefined) await writeFile(file, content);
      const given = flags.map((flag) => flag.replace("FILE", file));
      const places = [`--kubeconfig=${join(directory.path, `kubeconfig-${index}`)}`, "--secure-port=0"];
      const store = given.some((flag) => flag.startsWith("--etcd-servers")) ? [] : ["--store=memory"];
      const starting = [LAUNCHER, "apiserver", "--verbose", ...store, ...places, ...given];
      let end = (): void => undefined;
      const onLine = (line: string): void => void (line.startsWith("listening on ") && end());
      await using program = await startProgram({ command: process.execPath, arguments: starting, onLine });
      end = () => program.signal("SIGKILL");
      await program.exited;
      deepEqual(
        program.output.flatMap((line) => plantedIn(line) ?? []),
        [],
      );
    });
  }
});
