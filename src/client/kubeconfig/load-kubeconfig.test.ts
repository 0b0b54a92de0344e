import assert from "node:assert/strict";
import { test } from "node:test";
import { inClusterConfig, loadKubeconfig, type LoadOptions } from "./load-kubeconfig.ts";
import { proxyFromEnvironment } from "./proxy-environment.ts";

function given(files: Readonly<Record<string, string>>, options: Partial<LoadOptions> = {}): LoadOptions {
  const readFile = (path: string) =>
    files[path] === undefined
      ? Promise.reject(Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" }))
      : Promise.resolve(new TextEncoder().encode(files[path]));
  return { environment: {}, homeDirectory: "/home/me", readFile, ...options };
}

function fileOf(server: string, cluster = ""): string {
  return `{ current-context: c, contexts: [{ name: c, context: { cluster: k, user: u } }], users: [{ name: u, user: {} }],
    clusters: [{ name: k, cluster: { server: 'https://${server}'${cluster} } }] }`;
}

const HOME = "/home/me/.kube/config";

test("an explicit file takes precedence over KUBECONFIG, and KUBECONFIG over the file at home", async () => {
  const files = { [HOME]: fileOf("home"), "/a": fileOf("a"), "/b": fileOf("b") };
  const environment = { KUBECONFIG: "/none:/a::/b" };
  const serverOf = async (options: Partial<LoadOptions>) => (await loadKubeconfig(given(files, options))).server;

  assert.equal(await serverOf({ path: "/b", environment }), "https://b");
  assert.equal(await serverOf({ environment }), "https://a");
  assert.equal(await serverOf({}), "https://home");
});

test("an explicit file must exist; all unreadable files are reported at once", async () => {
  await assert.rejects(loadKubeconfig(given({}, { path: "/a" })), /error loading config file "\/a": no such file/);
  await assert.rejects(loadKubeconfig(given({ "/a": "[", "/b": "5" }, { environment: { KUBECONFIG: "/a:/b" } })), /"\/a".*"\/b"/);
  await assert.rejects(loadKubeconfig(given({ [HOME]: fileOf("s", ", certificate-authority: ca") })), {
    message: "invalid configuration: unable to read certificate-authority /home/me/.kube/ca for k due to no such file: /home/me/.kube/ca",
  });
  await assert.rejects(loadKubeconfig(given({})), /no configuration has been provided/);
});

test("unreadable files are reported together with other problems", async () => {
  const file = fileOf("s").replace("user: {}", "user: { client-certificate: cert, token: t, username: me }");
  await assert.rejects(loadKubeconfig(given({ [HOME]: file })), {
    problems: [
      "client-key-data or client-key must be specified for u to use the clientCert authentication method.",
      "more than one authentication method found for u; found [token basicAuth], only one is allowed",
      "unable to read client-cert /home/me/.kube/cert for u due to no such file: /home/me/.kube/cert",
    ],
  });
});

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const IN_CLUSTER = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

test("in a Pod the service account is used, and its rotating token is re-read", async () => {
  const files = { [`${ACCOUNT}/token`]: "t", [`${ACCOUNT}/ca.crt`]: "ca", [`${ACCOUNT}/namespace`]: "mine\n" };
  const expected = {
    server: "https://[fd00::1]:443",
    namespace: "mine",
    credentials: { tokenFile: `${ACCOUNT}/token` },
    authority: { file: `${ACCOUNT}/ca.crt` },
  };

  assert.deepEqual(await inClusterConfig(given(files, { environment: IN_CLUSTER })), expected);
  assert.deepEqual(await loadKubeconfig(given(files, { environment: IN_CLUSTER })), expected);
  await assert.rejects(inClusterConfig(given(files)), /KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined/);
  await assert.rejects(inClusterConfig(given({}, { environment: IN_CLUSTER })), /unable to read .*token/);
});

test("the cluster's proxy takes precedence over the environment's", async () => {
  const environment = { HTTPS_PROXY: "http://env:1" };
  const proxyOf = async (file: string) => (await loadKubeconfig(given({ [HOME]: file }, { environment }))).proxyUrl;
  assert.equal(await proxyOf(fileOf("s", ", proxy-url: 'http://own:2'")), "http://own:2");
  assert.equal(await proxyOf(fileOf("s")), "http://env:1");
});

const P = "http://p:3128";
const rows: readonly [server: string, environment: Readonly<Record<string, string>>, proxy: string | undefined][] = [
  ["https://s", {}, undefined],
  ["https://s", { HTTPS_PROXY: P }, P],
  ["https://s", { https_proxy: P }, P],
  ["https://s", { HTTP_PROXY: P }, undefined],
  ["http://s", { HTTP_PROXY: P }, P],
  ["https://s", { HTTPS_PROXY: "p:3128" }, P],
  ["https://localhost:1", { HTTPS_PROXY: P }, undefined],
  ["https://127.0.0.9", { HTTPS_PROXY: P }, undefined],
  ["https://[::1]", { HTTPS_PROXY: P }, undefined],
  ["https://s", { HTTPS_PROXY: P, NO_PROXY: "*" }, undefined],
  ["https://a.example.com", { HTTPS_PROXY: P, NO_PROXY: "x, example.com" }, undefined],
  ["https://example.com", { HTTPS_PROXY: P, NO_PROXY: "EXAMPLE.com" }, undefined],
  ["https://example.com", { HTTPS_PROXY: P, NO_PROXY: ".example.com" }, P],
  ["https://a.example.com", { HTTPS_PROXY: P, no_proxy: "*.example.com" }, undefined],
  ["https://notexample.com", { HTTPS_PROXY: P, NO_PROXY: "example.com" }, P],
  ["https://s:6443", { HTTPS_PROXY: P, NO_PROXY: "s:443" }, P],
  ["https://s:6443", { HTTPS_PROXY: P, NO_PROXY: "s:6443" }, undefined],
  ["https://s", { HTTPS_PROXY: P, NO_PROXY: "s:443" }, undefined],
  ["https://10.1.2.3", { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8" }, undefined],
  ["https://11.1.2.3", { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8" }, P],
  ["https://[fd00::2]", { HTTPS_PROXY: P, NO_PROXY: "fd00::/8" }, undefined],
  ["https://10.1.2.3", { HTTPS_PROXY: P, NO_PROXY: "10.1.2.3" }, undefined],
];
for (const [server, environment, proxy] of rows) {
  test(`${server} with ${JSON.stringify(environment)} is reached ${proxy === undefined ? "directly" : `through ${proxy}`}`, () => {
    assert.equal(proxyFromEnvironment(server, environment), proxy);
  });
}
