import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseContext, type Choice } from "./choose-context.ts";
import { KubeconfigError, mergeKubeconfigs, parseKubeconfig, type Kubeconfig } from "./kubeconfig.ts";

function parse(text: string, directory = "/home/me/.kube"): Kubeconfig {
  return parseKubeconfig(new TextEncoder().encode(text), directory);
}

/** One context "c" of cluster "k" and user "u". */
function configOf(cluster: string, user = "token: t", context = "cluster: k, user: u"): Kubeconfig {
  return parse(`
apiVersion: v1
kind: Config
current-context: c
clusters: [{ name: k, cluster: { ${cluster} } }]
users: [{ name: u, user: { ${user} } }]
contexts: [{ name: c, context: { ${context} } }]
`);
}

function problemsOf(config: Kubeconfig, choice: Choice = {}): readonly string[] {
  try {
    chooseContext(config, choice);
    return [];
  } catch (error) {
    assert(error instanceof KubeconfigError);
    return error.problems;
  }
}

const SERVER = "server: 'https://s:6443'";
const NONE = { isInsecure: false, disableCompression: false };

test("a whole kubeconfig becomes a connection, with data decoded and paths relative to its directory", () => {
  const config = configOf(
    "server: 'https://s:6443/', certificate-authority: ../ca.crt, tls-server-name: name, proxy-url: 'socks5://p', disable-compression: true",
    "client-certificate-data: Y2VydA==, client-key: key.pem, as: jane, as-uid: '1', as-groups: [g], as-user-extra: { a/b: [one, two], __proto__: [z] }",
    "cluster: k, user: u, namespace: here",
  );

  assert.deepEqual(chooseContext(config), {
    ...NONE,
    server: "https://s:6443",
    namespace: "here",
    authority: { file: "/home/me/ca.crt" },
    serverName: "name",
    proxyUrl: "socks5://p",
    disableCompression: true,
    credentials: { certificate: { certificate: { text: "cert" }, key: { file: "/home/me/.kube/key.pem" } } },
    impersonate: {
      user: "jane",
      uid: "1",
      groups: ["g"],
      extra: new Map([
        ["a/b", ["one", "two"]],
        ["__proto__", ["z"]],
      ]),
    },
  });
});

test("an exec plugin keeps its bare name, and relative paths become absolute", () => {
  const exec = "apiVersion: client.authentication.k8s.io/v1beta1, args: [a], env: [{ name: NAME, value: v }], provideClusterInfo: true";
  const extension = "extensions: [{ name: client.authentication.k8s.io/exec, extension: { audience: x } }]";
  const commands = ["login", "./bin/login", "bin/login", "/bin/login"].map(
    (command) =>
      chooseContext(configOf(`${SERVER}, ${extension}`, `exec: { command: ${command}, ${exec} }`)).credentials?.exec ?? assert.fail(),
  );

  assert.deepEqual(
    commands.map(({ command }) => command),
    ["login", "/home/me/.kube/bin/login", "/home/me/.kube/bin/login", "/bin/login"],
  );
  assert.deepEqual(commands[0], {
    command: "login",
    arguments: ["a"],
    environment: [["NAME", "v"]],
    apiVersion: "client.authentication.k8s.io/v1beta1",
    interactiveMode: "IfAvailable",
    provideClusterInfo: true,
    clusterConfig: { audience: "x" },
  });
});

const servers: readonly [cluster: string, server: string][] = [
  ["server: 'https://s:6443'", "https://s:6443"],
  ["server: 'https://s/a/b/'", "https://s/a/b"],
  ["server: 'localhost:8080'", "http://localhost:8080"],
  ["server: 'localhost:8080', insecure-skip-tls-verify: true", "http://localhost:8080"],
  ["server: '127.0.0.1:6443', certificate-authority: ca", "http://127.0.0.1:6443"],
];
for (const [cluster, server] of servers) {
  test(`the server of {${cluster}} is ${server}`, () => {
    assert.equal(chooseContext(configOf(cluster)).server, server);
  });
}

test("credentials are not sent over plain HTTP, as in kubectl", () => {
  for (const server of ["http://s:8080", "s:8080"]) assert.deepEqual(chooseContext(configOf(`server: '${server}'`)).credentials, {});
});

test("any namespace is accepted, as by kubectl: the server reports whether it exists", () => {
  assert.equal(chooseContext(configOf(SERVER, "", "cluster: k, user: u, namespace: Bad_NS")).namespace, "Bad_NS");
});

const CA = "certificate-authority-data: YQ==, certificate-authority: a";
const EXEC = "to use exec authentication plugin";
const mistakes: readonly [config: Kubeconfig, problems: readonly string[], choice?: Choice][] = [
  [parse(""), ["no configuration has been provided, try setting KUBERNETES_MASTER environment variable"]],
  [parse("contexts: [{ name: c, context: {} }]"), ["no context chosen"]],
  [configOf(SERVER), ["context was not found for specified context: d"], { context: "d" }],
  [configOf(SERVER, "", ""), ['user was not specified for context "c"', 'cluster was not specified for context "c"']],
  [configOf(SERVER, "", "cluster: x, user: z"), ['user "z" was not found for context "c"', 'cluster "x" was not found for context "c"']],
  [configOf(""), ['no server found for cluster "k"']],
  [configOf("server: 'ftp://s'"), ['invalid server "ftp://s" for cluster "k": must be a URL']],
  [
    configOf(`${SERVER}, proxy-url: 'ftp://p', ${CA}`),
    [
      `invalid 'proxy-url' "ftp://p" for cluster "k": unsupported scheme "ftp", must be http, https, or socks5`,
      "certificate-authority-data and certificate-authority are both specified for k. certificate-authority-data will override.",
    ],
  ],
  [
    configOf(`${SERVER}, certificate-authority-data: YQ==, insecure-skip-tls-verify: true`),
    ["specifying a root certificates file with the insecure flag is not allowed"],
  ],
  [
    configOf(SERVER, "token: t, username: me, as-groups: [g], client-certificate: c"),
    [
      "client-key-data or client-key must be specified for u to use the clientCert authentication method.",
      "more than one authentication method found for u; found [token basicAuth], only one is allowed",
      "requesting uid, groups or user-extra for u without impersonating a user",
    ],
  ],
  [
    configOf(SERVER, 'token: "secret\\n"'),
    ['token of user "u": the token must be one line of letters, digits and signs, and character 7 is another (U+000A)'],
  ],
  [
    configOf(SERVER, "exec: { env: [{ value: v }] }"),
    [
      `command must be specified for u ${EXEC}`,
      `apiVersion must be specified for u ${EXEC}`,
      `env variable name must be specified for u ${EXEC}`,
      `interactiveMode must be specified for u ${EXEC}`,
    ],
  ],
  [
    configOf(SERVER, "exec: { command: c, apiVersion: v1, interactiveMode: Maybe }"),
    ['exec plugin: invalid apiVersion "v1"', 'invalid interactiveMode for u: "Maybe"'],
  ],
  [
    configOf(SERVER, "auth-provider: { name: gcp }"),
    ['auth-provider "gcp" of user "u" is not supported; use an exec credential plugin instead'],
  ],
];
for (const [config, problems, choice] of mistakes) {
  test(`a kubeconfig is rejected with: ${problems.join("; ")}`, () => {
    assert.deepEqual(problemsOf(config, choice), problems);
  });
}

test("several problems are reported in one message, formatted as upstream", () => {
  assert.equal(new KubeconfigError(["a"]).message, "invalid configuration: a");
  assert.equal(new KubeconfigError(["a", "b"]).message, "invalid configuration: [a, b]");
});

test("all values of the wrong type are reported at once, without quoting possible secrets", () => {
  assert.throws(
    () => configOf("server: 5", "token: [hidden], client-key-data: '%'"),
    new Error(
      "clusters[0].cluster.server must be a string, is a number; " +
        "users[0].user.client-key-data must be base64: illegal base64 data at input byte 0; " +
        "users[0].user.token must be a string, is a list",
    ),
  );
  assert.throws(() => parse("[]"), new Error("it must be an object, is a list"));
  assert.throws(() => parse("{"), /yaml/);
});

test("a duplicate name in one list, another kind and another version are rejected", () => {
  const twice = (list: string, entry: string) => `${list}: [{ name: a, ${entry}: {} }, { name: b }, { name: a, ${entry}: {} }]`;
  assert.throws(() => parse(twice("clusters", "cluster")), new Error('clusters: duplicate name "a" in list'));
  assert.throws(
    () => parse(`${twice("users", "user")}\n${twice("contexts", "context")}`),
    new Error('users: duplicate name "a" in list; contexts: duplicate name "a" in list'),
  );
  assert.throws(
    () => configOf(`${SERVER}, extensions: [{ name: e }, { name: e }]`),
    new Error('clusters[0].cluster.extensions: duplicate name "e" in list'),
  );
  assert.throws(() => parse("apiVersion: v2\nkind: Config"), new Error('no kind "Config" is registered for version "v2"'));
  assert.throws(() => parse("apiVersion: v1\nkind: Pod"), new Error('no kind "Pod" is registered for version "v1"'));
  for (const text of ["apiVersion: v1", "kind: Config", ""]) assert.equal(parse(text).currentContext, "");
});

test("of several files the first entry of a name wins as a whole", () => {
  const first = parse(`
current-context: ''
clusters: [{ name: a, cluster: { server: 'https://first' } }]
users: [{ name: u, user: {} }]`);
  const second = parse(`
current-context: x
clusters: [{ name: a, cluster: { server: 'https://second', tls-server-name: name } }, { name: b, cluster: { server: 'https://b' } }]
users: [{ name: u, user: { token: t } }]
contexts: [{ name: x, context: { cluster: a, user: u } }]`);

  const merged = mergeKubeconfigs([first, second]);

  assert.deepEqual(
    [...merged.clusters].map(([name, { server, tlsServerName }]) => [name, server, tlsServerName]),
    [
      ["a", "https://first", ""],
      ["b", "https://b", ""],
    ],
  );
  assert.deepEqual(chooseContext(merged), { ...NONE, server: "https://first", namespace: "default", credentials: {} });
});

test("an override takes precedence over the file", () => {
  const config = parse(`
clusters: [{ name: a, cluster: { server: 'https://a' } }, { name: b, cluster: { server: 'https://b' } }]
users: [{ name: u, user: { token: u } }, { name: v, user: { token: v } }]
contexts: [{ name: x, context: { cluster: a, user: u } }]`);
  const { server, namespace, credentials } = chooseContext(config, { context: "x", cluster: "b", user: "v", namespace: "n" });
  assert.deepEqual([server, namespace, credentials], ["https://b", "n", { token: "v" }]);
});
