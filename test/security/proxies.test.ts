/**
 * Proxying through the API server to workloads: permission for one target must not reach another through the path, and a backend must not
 * redirect the server, or the client's credentials, elsewhere.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ExchangeAnswer } from "../../src/apiserver/framework/exchange.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import { aPod } from "../../src/apiserver/testing/node-cluster.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { allow, attempt, EVE, grant, make, mustBeRefused, startEscapeServer, type Sent } from "./cluster.ts";
import type { ConnectionCall, NodeConnector } from "../../src/apiserver/framework/node-connector.ts";

const PODS = "/api/v1/namespaces/own/pods";
const MERGE = { "content-type": "application/merge-patch+json" };
const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  "sec-websocket-version": "13",
};

/** The proxied requests, and the backend. */
const calls: ConnectionCall[] = [];
let behind: (call: ConnectionCall) => ExchangeAnswer = () => ({ code: 200, headers: {}, body: [] });
const connector: NodeConnector = {
  connect(call) {
    calls.push(call);
    return Promise.resolve(behind(call));
  },
};

let server: StartedServer;

before(async () => {
  server = await startEscapeServer({ connector });
  await make(server, "/api/v1/nodes", { metadata: { name: "n1" }, status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } });
  for (const [name, ip] of [
    ["mine", "192.0.2.10"],
    ["theirs", "192.0.2.11"],
    ["loop", "127.0.0.1"],
    ["cloud", "169.254.169.254"],
    ["six", "::ffff:127.0.0.1"],
  ]) {
    await make(server, PODS, aPod(name ?? "", { nodeName: "n1" }));
    await server.call("PATCH", `${PODS}/${name}/status`, { status: { podIP: ip ?? "", podIPs: [{ ip: ip ?? "" }] } }, MERGE);
  }
  await grant(server, EVE, "own", [
    allow("get,create", "pods/proxy", "mine"),
    allow("get,create", "services/proxy", "mine"),
    allow("get", "pods/exec", "mine"),
    allow("get", "pods/log", "mine"),
  ]);
  await grant(server, EVE, "", [allow("get", "nodes/proxy", "n1")]);
});
after(() => server[Symbol.asyncDispose]());

function callsOf(run: () => Promise<unknown>): Promise<readonly ConnectionCall[]> {
  calls.length = 0;
  return run().then(() => [...calls]);
}

describe("permission to proxy to one target does not reach another", () => {
  const REFUSED: readonly (readonly [it: string, ...Sent])[] = [
    ["another Pod", "GET", `${PODS}/theirs/proxy/`],
    ["another Pod, by an encoded slash in the name", "GET", `${PODS}/mine%2f..%2ftheirs/proxy/`],
    ["another Pod, by dots before the subresource", "GET", `${PODS}/mine/../theirs/proxy/`],
    ["another Pod, by encoded dots", "GET", `${PODS}/mine/%2e%2e/theirs/proxy/`],
    ["the Pod with a port that its rule does not name", "GET", `${PODS}/mine:8080/proxy/`],
    ["another scheme and port", "GET", `${PODS}/https:mine:443/proxy/`],
    ["a name that contains a host", "GET", `${PODS}/mine@evil.example:80/proxy/`],
    ["another namespace", "GET", "/api/v1/namespaces/victim/pods/mine/proxy/"],
    ["the deprecated proxy path", "GET", "/api/v1/proxy/namespaces/own/pods/mine/"],
    ["exec with permission to read only", "POST", `${PODS}/mine/exec?command=sh`],
    ["attach with permission for exec", "GET", `${PODS}/mine/attach`],
    ["port-forward with permission for exec", "GET", `${PODS}/mine/portforward`],
    ["a Service of another name", "GET", "/api/v1/namespaces/own/services/theirs/proxy/"],
    ["another node", "GET", "/api/v1/nodes/n2/proxy/"],
    ["another port of the node", "GET", "/api/v1/nodes/n1:22/proxy/"],
    ["a write through the node proxy", "POST", "/api/v1/nodes/n1/proxy/run/own/mine/c?cmd=id"],
    [
      "a write through the node proxy by a method override",
      "POST",
      "/api/v1/nodes/n1/proxy/exec",
      undefined,
      { "x-http-method-override": "GET" },
    ],
    ["the log of another Pod", "GET", `${PODS}/theirs/log`],
    ["the log of another Pod, through the node", "GET", `${PODS}/theirs/log?nodeName=n1`],
  ];
  for (const [it, ...sends] of REFUSED) {
    test(it, async () => {
      const called = await callsOf(() => mustBeRefused(server, EVE, { sends, gets: 403 }));
      equal(called.length, 0);
    });
  }
  test("exec over a WebSocket requires the verb create, since it writes", async () => {
    const called = await callsOf(() =>
      mustBeRefused(server, EVE, { sends: ["GET", `${PODS}/mine/exec?command=sh`, undefined, UPGRADE], gets: 403 }),
    );
    equal(called.length, 0);
  });

  for (const path of [
    "../../theirs/proxy/x",
    "%2e%2e/%2e%2e/theirs/proxy/x",
    "..%2f..%2ftheirs%2fproxy%2fx",
    "a/../../../theirs/proxy/x",
    "..%252f..%252ftheirs",
  ]) {
    test(`dot segments in the proxied path stay in the proxied path: ${path}`, async () => {
      const [call, more] = await callsOf(() => attempt(server, EVE, ["GET", `${PODS}/mine/proxy/${path}`]));
      deepEqual([call?.target.is === "server" && call.target.host, more], ["192.0.2.10", undefined]);
      ok(!call?.path.split("/").includes("..") && call?.path.startsWith("/"), call?.path);
    });
  }
  test("a smuggled second request reaches the backend as part of one request", async () => {
    const [call] = await callsOf(() =>
      attempt(server, EVE, ["GET", `${PODS}/mine/proxy/x%20HTTP%2f1.1%0d%0aHost:%20evil%0d%0a%0d%0aGET%20%2fsecret`]),
    );
    ok(call !== undefined && !/[\s\r\n]/.test(call.path), call?.path);
  });
});

describe("a backend cannot redirect the API server elsewhere", () => {
  for (const location of [
    "https://192.0.2.99:10250/run",
    "//192.0.2.99/x",
    "http://169.254.169.254/latest/meta-data",
    "/../../../theirs/proxy/x",
  ]) {
    test(`CVE-2020-8559: a redirect to ${location} is returned to the client, which follows it with its own permissions`, async () => {
      behind = () => ({ code: 302, headers: { location }, body: [] });
      const called = await callsOf(async () => equal((await attempt(server, EVE, ["GET", `${PODS}/mine/proxy/a`])).code, 302));
      equal(called.length, 1);
    });
  }
  test("CVE-2018-1002105: an error of the backend is a response, and opens no tunnel", async () => {
    behind = () => ({ code: 403, headers: {}, body: [new TextEncoder().encode("no")] });
    const { code, text } = await attempt(server, EVE, ["GET", `${PODS}/mine/proxy/a`, undefined, UPGRADE]);
    deepEqual([code, text], [403, "no"]);
  });
  test("an unrequested WebSocket upgrade by the backend is rejected", async () => {
    behind = () => ({ run: () => undefined });
    equal((await attempt(server, EVE, ["GET", `${PODS}/mine/proxy/a`])).code, 503);
  });
  test("headers of the backend do not override those of the API server", async () => {
    const headers = {
      "access-control-allow-origin": "*",
      "access-control-allow-credentials": "true",
      connection: "keep-alive, x",
      upgrade: "h2c",
    };
    behind = () => ({ code: 200, headers, body: [] });
    const answer = await attempt(server, EVE, ["GET", `${PODS}/mine/proxy/a`]);
    for (const name of Object.keys(headers)) equal(answer.headers[name], undefined, name);
  });
  test("the client's credentials are not forwarded: token, impersonation and front proxy headers", async () => {
    behind = () => ({ code: 200, headers: {}, body: [] });
    const shown = {
      authorization: "Bearer secret-token",
      "proxy-authorization": "Basic x",
      "impersonate-user": "root",
      "impersonate-extra-a": "b",
      "x-remote-user": "root",
      "x-remote-group": "system:masters",
      "x-remote-extra-a": "b",
      "sec-websocket-protocol": "base64url.bearer.authorization.k8s.io.c2VjcmV0",
    };
    const master: User = { name: "m", groups: ["system:masters"] };
    // The impersonated user needs the permission, too.
    await grant(server, { name: "root", groups: [] }, "own", [allow("get", "pods/proxy")]);
    const [call] = await callsOf(() => attempt(server, master, ["GET", `${PODS}/mine/proxy/a`, undefined, shown]));
    ok(call !== undefined);
    for (const name of Object.keys(shown)) equal(call.headers[name], undefined, name);
  });
});

describe("the API server connects to nothing on its own machine or link (CVE-2020-8555, CVE-2022-3294)", () => {
  const ROOT: User = { name: "m", groups: ["system:masters"] };
  for (const name of ["loop", "cloud", "six"]) {
    test(`a Pod with the status address ${name} is not contacted`, async () => {
      const called = await callsOf(async () => equal((await attempt(server, ROOT, ["GET", `${PODS}/${name}:80/proxy/`])).code, 400));
      equal(called.length, 0);
    });
  }
  for (const address of ["127.0.0.1", "169.254.169.254", "::1", "0.0.0.0", "::ffff:127.0.0.1", "fe80::1", "127.1", "0127.0.0.1"]) {
    test(`a Node with the status address ${address} is not contacted`, async () => {
      const name = `bad-${Array.from(address, (letter) => letter.charCodeAt(0)).join("-")}`;
      await make(server, "/api/v1/nodes", { metadata: { name }, status: { addresses: [{ type: "InternalIP", address }] } });
      for (const port of ["", ":22", ":10250"]) {
        const called = await callsOf(() => attempt(server, ROOT, ["GET", `/api/v1/nodes/${name}${port}/proxy/`]));
        // A host name is resolved by the dialer and checked there.
        const hosts = called.map(({ target }) => (target.is === "server" ? target.host : target.node.host));
        deepEqual(hosts, address === "127.1" ? hosts : []);
      }
    });
  }
  for (const ip of ["127.0.0.1", "169.254.169.254", "::1", "224.0.0.1", "0.0.0.0"]) {
    test(`Endpoints with ${ip} are rejected`, async () => {
      const subsets = [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
      const metadata = { name: "e" };
      equal((await server.call("POST", "/api/v1/namespaces/own/endpoints", { metadata, subsets })).code, 422);
    });
  }
  test("Endpoints that resolve to no Pod of their namespace are not contacted", async () => {
    await make(server, "/api/v1/namespaces/own/services", { metadata: { name: "stray" }, spec: { ports: [{ port: 80 }] } });
    const targetRef = { kind: "Pod", name: "theirs", namespace: "victim" };
    const subsets = [{ addresses: [{ ip: "192.0.2.99" }, { ip: "192.0.2.11", targetRef }], ports: [{ port: 80 }] }];
    await make(server, "/api/v1/namespaces/own/endpoints", { metadata: { name: "stray" }, subsets });
    const called = await callsOf(async () =>
      equal((await attempt(server, ROOT, ["GET", "/api/v1/namespaces/own/services/stray/proxy/"])).code, 503),
    );
    equal(called.length, 0);
  });
});
