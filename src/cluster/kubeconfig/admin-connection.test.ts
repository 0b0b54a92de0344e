import { deepEqual, throws } from "node:assert/strict";
import test from "node:test";
import { kubeconfigText } from "../../components/api-server/kubeconfig.ts";
import { adminConnection } from "./admin-connection.ts";

const PATH = "/home/x/kubeconfig";
const isOwnAddress = (address: string): boolean => ["127.0.0.1", "::1"].includes(address);

const written = (server = "https://127.0.0.1:6443"): string =>
  kubeconfigText({ server, user: "admin", authority: "CA", certificate: "CERTIFICATE", key: "KEY" });

function connect(text: string) {
  return adminConnection({ path: PATH, text, isOwnAddress });
}

/** What k8ts writes, with something in the cluster or the user that it never writes. */
function changed({ cluster = {}, user = {} }: { readonly cluster?: object; readonly user?: object }): string {
  const config = JSON.parse(written()) as { clusters: [{ cluster: object }]; users: [{ user: object }] };
  Object.assign(config.clusters[0].cluster, cluster);
  Object.assign(config.users[0].user, user);
  return JSON.stringify(config);
}

for (const server of ["https://127.0.0.1:6443", "https://[::1]:6443"]) {
  test(`the administrator's connection is read from the kubeconfig in the home, at ${server}`, () => {
    deepEqual(connect(written(server)), {
      server,
      namespace: "default",
      authority: { text: "CA" },
      credentials: { certificate: { certificate: { text: "CERTIFICATE" }, key: { text: "KEY" } } },
    });
  });
}

test("the administrator's connection is the same after kubectl has rewritten the kubeconfig as YAML", () => {
  const yaml = [
    ...[
      "apiVersion: v1",
      "kind: Config",
      "clusters:",
      "- cluster:",
      "    certificate-authority-data: Q0E=",
      "    server: https://127.0.0.1:6443",
    ],
    ...["  name: k8ts", "contexts:", "- context: { cluster: k8ts, user: admin, namespace: shop }", "  name: k8ts", "current-context: k8ts"],
    ...["users:", "- name: admin", "  user:", "    client-certificate-data: Q0VSVElGSUNBVEU=", "    client-key-data: S0VZ", ""],
  ].join("\n");
  deepEqual(connect(yaml), connect(written()));
});

for (const { title, text, why } of [
  {
    title: "an exec plugin",
    text: changed({ user: { exec: { command: "/tmp/x" } } }),
    why: 'it contains "exec", which k8ts does not write',
  },
  { title: "an auth provider", text: changed({ user: { "auth-provider": {} } }), why: 'it contains "auth-provider"' },
  { title: "a token file", text: changed({ user: { tokenFile: "/etc/shadow" } }), why: 'it contains "tokenFile"' },
  { title: "a client key file", text: changed({ user: { "client-key": "/root/.ssh/id" } }), why: 'it contains "client-key"' },
  { title: "a password", text: changed({ user: { username: "a", password: "b" } }), why: 'it contains "username", "password"' },
  { title: "a proxy", text: changed({ cluster: { "proxy-url": "http://192.0.2.1" } }), why: 'it contains "proxy-url"' },
  {
    title: "an authority file",
    text: changed({ cluster: { "certificate-authority": "/etc/x" } }),
    why: 'it contains "certificate-authority"',
  },
  {
    title: "no verification of the server",
    text: changed({ cluster: { "insecure-skip-tls-verify": true } }),
    why: 'it contains "insecure-skip',
  },
  { title: "another host", text: written("https://192.0.2.1:6443"), why: "its server is not an https URL of this machine" },
  { title: "a host name", text: written("https://127.0.0.1.example.com"), why: "its server is not an https URL of this machine" },
  { title: "plain HTTP", text: written("http://127.0.0.1:6443"), why: "its server is not an https URL of this machine" },
  { title: "two users", text: written().replace('"users": [', '"users": [{}, '), why: "it must contain exactly one user" },
  { title: "no cluster", text: "clusters: []", why: "it must contain exactly one cluster" },
  { title: "a key that repeats", text: written().replace('"users"', '"users": [], "users"'), why: "it must contain exactly one cluster" },
  { title: "half a text", text: written().slice(0, 100), why: "it must contain exactly one cluster" },
]) {
  test(`a kubeconfig in the home with ${title} is rejected`, () => {
    throws(
      () => connect(text),
      (error: Error) => error.message.startsWith(`Cannot use ${PATH}: ${why}`) && error.message.endsWith("which rewrites the file"),
    );
  });
}
