import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../framework/identity.ts";
import { asUser, startServer } from "../testing/server.ts";
import { trustData } from "./extension-authentication.ts";

const PATH = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters"] };
const MERGE = { "content-type": "application/merge-patch+json" };

function pem(body: string): string {
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
}

const IDENTITY: Identity = {
  anonymous: true,
  bootstrapTokens: true,
  openIdIssuers: [],
  clientAuthorityCertificates: pem("AAAA"),
  frontProxy: {
    authority: "front-proxy",
    allowedNames: ["front-proxy-client"],
    usernameHeaders: ["x-remote-user"],
    uidHeaders: [],
    groupHeaders: ["x-remote-group"],
    extraHeaderPrefixes: ["x-remote-extra-"],
    authorityCertificates: pem("BBBB"),
  },
};

const DATA = {
  "client-ca-file": pem("AAAA"),
  "requestheader-client-ca-file": pem("BBBB"),
  "requestheader-username-headers": '["X-Remote-User"]',
  "requestheader-group-headers": '["X-Remote-Group"]',
  "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  "requestheader-allowed-names": '["front-proxy-client"]',
};

test("extension-apiserver-authentication has upstream's format", () => {
  assert.deepEqual(trustData(IDENTITY, {}), DATA);
});

test("extension-apiserver-authentication keeps entries of other servers in order without duplicates, and drops unparsable ones", () => {
  const found = {
    "client-ca-file": `${pem("CCCC")}${pem("AAAA")}`,
    "requestheader-allowed-names": '["other","front-proxy-client"]',
    "requestheader-group-headers": "{",
    "requestheader-uid-headers": '["X-Uid"]',
  };

  assert.deepEqual(trustData(IDENTITY, found), {
    ...DATA,
    "client-ca-file": `${pem("CCCC")}${pem("AAAA")}`,
    "requestheader-allowed-names": '["other","front-proxy-client"]',
    "requestheader-uid-headers": '["X-Uid"]',
  });
});

test("extension-apiserver-authentication has only the client CA without a front proxy, and wraps PEM lines", () => {
  const { frontProxy: _frontProxy, ...identity } = IDENTITY;
  const long = `${"A".repeat(64)}\n${"B".repeat(64)}\nCCCC`;

  assert.deepEqual(trustData({ ...identity, clientAuthorityCertificates: pem(long) }, {}), { "client-ca-file": pem(long) });
});

test("extension-apiserver-authentication is created at start, and recreated if it is deleted or emptied", async () => {
  await using server = await startServer({ identity: IDENTITY, authenticator: asUser(ADMINISTRATOR) });

  assert.deepEqual((await server.call("GET", PATH)).body.data, DATA);
  for (const spoil of [() => server.call("DELETE", PATH), () => server.call("PATCH", PATH, { data: null }, MERGE)]) {
    assert.equal((await spoil()).code, 200);
    await server.clock.settle();
    assert.deepEqual((await server.call("GET", PATH)).body.data, DATA);
  }
});

test("a server without CAs does not write extension-apiserver-authentication", async () => {
  await using server = await startServer();

  assert.equal((await server.call("GET", PATH)).code, 404);
});
