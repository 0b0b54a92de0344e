import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { silentSteps } from "../../cli/framework/progress.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import { makeAuthority } from "../../pki/certificates.ts";
import { requestCertificate } from "../../kubelet/certificates/request-certificate.ts";
import { sharedPki } from "../../testing/fixtures/certificates.ts";
import { startTestApiServer, type TestApiServer } from "../../testing/servers/api-server.ts";
import { homePaths } from "../home/home-paths.ts";
import { TOKEN_GROUPS, TOKEN_USAGES, tokenSecret } from "../tokens/bootstrap-tokens.ts";
import { publicKeyHashes } from "./cluster-info.ts";
import { connectionOf, joinPaths, readJoin, readPair, writeJoin, writePair } from "./join-files.ts";
import type { JoinOptions } from "./join-options.ts";
import { clientRequest, nodeCredentials, type JoinContext } from "./node-credentials.ts";
import { getNode } from "./node-pod-cidr.ts";
import { PRESSURE_DISABLED } from "../../kubelet/eviction/pressure-settings.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
const CONTROLLERS = [
  "bootstrap-signer-controller",
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-signing-controller",
];
/** Of what is expected to fail: it is tried once. */
const AT_ONCE = { timeoutMs: 0 };

describe("joining a cluster over HTTPS", () => {
  const ends = new Disposables();
  let server: TestApiServer;
  let pins: readonly string[];

  before(async () => {
    server = ends.use(await startTestApiServer({ controllers: CONTROLLERS }));
    const pki = await sharedPki();
    pins = publicKeyHashes(pki.authority);
    const { certificate, key } = pki.pair("admin");
    const credentials = { certificate: { certificate: { text: certificate }, key: { text: key } } };
    const connection = { server: server.url, namespace: "default", authority: { text: pki.authority }, credentials };
    await using transport = httpsTransport(connection, { clock: realClock, log: silentLogger, userAgent: "test" });
    await createJoiningPermissions(createClient(transport));
    const options = { ttlMs: 3_600_000, usages: TOKEN_USAGES, groups: TOKEN_GROUPS };
    const { code } = await server.ask("POST", "/api/v1/namespaces/kube-system/secrets", tokenSecret(TOKEN, options, Date.now()));
    equal(code, 201);
  });
  after(() => ends[Symbol.asyncDispose]());

  function options(more: Partial<JoinOptions> = {}): JoinOptions {
    return {
      home: { directory: "" },
      server: server.url,
      token: TOKEN,
      pins,
      nodeName: "worker",
      isNamed: false,
      ...{ nodeIps: [], podCidrs: [] },
      rotatesServingCertificate: false,
      timeoutMs: 60_000,
      isDetached: false,
      networkValues: {},
      pressure: PRESSURE_DISABLED,
      ...more,
    };
  }

  async function context(): Promise<JoinContext & AsyncDisposable> {
    const directory = await makeTemporaryDirectory("k8ts-join-");
    const home = { ...homePaths(directory.path), name: "test", context: "k8ts", runtimeDirectory: directory.path, commandArguments: "" };
    const { signal } = new AbortController();
    return {
      home,
      steps: silentSteps,
      clock: realClock,
      log: silentLogger,
      signal,
      [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
    };
  }

  function client({ home }: JoinContext) {
    const transport = httpsTransport(connectionOf(home, server.url), { clock: realClock, log: silentLogger, userAgent: "test" });
    return { client: createClient(transport), [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
  }

  test("a token and the hash of the CA give the node a certificate of its own, which is private and needs no token afterwards", async () => {
    await using joining = await context();
    const joined = await nodeCredentials(options(), joining);

    const [certificate] = parsePemCertificates(joined.certificate);
    deepEqual([certificate?.subject.commonName, certificate?.subject.organizations], ["system:node:worker", ["system:nodes"]]);
    const { client: file, kubeconfig } = joinPaths(joining.home);
    equal((await stat(file)).mode & 0o777, 0o600);
    equal((await readFile(kubeconfig, "utf8")).includes(TOKEN.secret), false);
    // The node's identity: its Node may be read and does not exist.
    await using connected = client(joining);
    equal(await getNode(connected.client, "worker"), undefined);

    const { token: _token, server: _server, ...again } = options();
    deepEqual(await nodeCredentials(again, joining), joined);
    deepEqual(await readJoin(joining.home), joined);
  });

  test("a rotated certificate replaces the file and is used by the next connection", async () => {
    await using joining = await context();
    await nodeCredentials(options({ nodeName: "rotating" }), joining);
    const { client: file } = joinPaths(joining.home);
    const before = await readPair(file);
    {
      await using connected = client(joining);
      const request = { client: connected.client, clock: realClock, timeoutMs: 60_000, ...clientRequest("rotating") };
      await writePair(file, await requestCertificate(request));
    }
    await using connected = client(joining);
    equal(await getNode(connected.client, "rotating"), undefined);
    const rotated = await readPair(file);
    deepEqual([rotated?.certificate === before?.certificate, rotated?.key === before?.key], [false, false]);
  });

  test("verification of the CA can be skipped: then the token alone is trusted", async () => {
    await using joining = await context();
    match((await nodeCredentials(options({ pins: [], nodeName: "unsafe" }), joining)).authority, /BEGIN CERTIFICATE/);
  });

  test("a cluster with another CA, another secret, or no such token is not trusted", async () => {
    await using joining = await context();
    const join = (more: Partial<JoinOptions>) => nodeCredentials(options({ ...AT_ONCE, ...more }), joining);
    await rejects(
      join({ pins: [`sha256:${"0".repeat(64)}`] }),
      /its CA has the public key sha256:\w{64}, which is not in --discovery-token-ca-cert-hash/,
    );
    await rejects(join({ token: { ...TOKEN, secret: "fedcba9876543210" } }), /does not match the secret of token abcdef/);
    await rejects(
      join({ token: { ...TOKEN, id: "zzzzzz" } }),
      /the token does not exist or has expired: create one with "k8ts token create"/,
    );
    await rejects(join({ server: "https://127.0.0.1:1" }), /Cannot join the cluster at https:\/\/127\.0\.0\.1:1: .*check the address/);
    equal(await readJoin(joining.home), undefined);
  });

  test("a machine that has not joined needs a token, and one that has joined keeps its name", async () => {
    await using joining = await context();
    const { token: _token, ...without } = options();
    await rejects(
      nodeCredentials(without, joining),
      /this machine has not joined one yet .*run the command that "k8ts token create" prints/,
    );
    await nodeCredentials(options({ nodeName: "first" }), joining);
    await rejects(nodeCredentials(options({ nodeName: "second", isNamed: true }), joining), /has already joined https:\S+ as first/);
  });

  test("a token is read from a file, without which a machine that has joined continues", async () => {
    await using joining = await context();
    const tokenFile = `${joining.home.directory}/token`;
    const { token: _token, ...without } = options({ nodeName: "reading" });
    await rejects(nodeCredentials({ ...without, tokenFile }, joining), /Cannot read .*token: the file does not exist; set --token-file/);
    await writeFile(tokenFile, "hunter2");
    await rejects(
      nodeCredentials({ ...without, tokenFile }, joining),
      (error: Error) => /--token-file must have a token of the form/.test(error.message) && !error.message.includes("hunter2"),
    );
    await writeFile(tokenFile, `${TOKEN.id}.${TOKEN.secret}\n`);
    const joined = await nodeCredentials({ ...without, tokenFile }, joining);
    await rm(tokenFile);
    deepEqual(await nodeCredentials({ ...without, tokenFile }, joining), joined);
  });

  test("an expired token is rejected with the remedy", async () => {
    const expired = { id: "exp1re", secret: "0123456789abcdef" };
    const settings = { ttlMs: 1, usages: TOKEN_USAGES, groups: TOKEN_GROUPS };
    const secret = tokenSecret(expired, settings, Date.now() - 60_000);
    equal((await server.ask("POST", "/api/v1/namespaces/kube-system/secrets", secret)).code, 201);
    await using joining = await context();
    await rejects(
      nodeCredentials(options({ ...AT_ONCE, token: expired }), joining),
      /is not signed with token exp1re .*the token does not exist or has expired: create one with "k8ts token create"/,
    );
  });

  describe("a machine that is a node of another cluster", () => {
    /** As after a join of a cluster with another CA. */
    async function joinedElsewhere(joining: JoinContext): Promise<void> {
      const joined = await nodeCredentials(options({ nodeName: "mover" }), joining);
      const other = makeAuthority("another", machineMaker.newKey(), machineMaker, Date.now());
      await writeFile(joinPaths(joining.home).authority, other.certificate);
      const pair = await readPair(joinPaths(joining.home).client);
      if (pair === undefined) throw new Error("There is no certificate");
      await writeJoin(joining.home, { ...joined, server: "https://192.0.2.9:6443", authority: other.certificate }, pair);
    }

    const refused = /this machine is node mover of another cluster, at https:\/\/192\.0\.2\.9:6443 .*"k8ts reset" first, or .*--data-dir/;
    const ATTEMPTS: readonly (readonly [what: string, more: () => Partial<JoinOptions>])[] = [
      ["with a token and the hash of the CA", () => ({})],
      ["with a token alone", () => ({ pins: [] })],
    ];
    for (const [what, more] of ATTEMPTS) {
      test(`is not joined ${what}, and keeps its certificate`, async () => {
        await using joining = await context();
        await joinedElsewhere(joining);
        const before = await readJoin(joining.home);

        await rejects(nodeCredentials(options({ nodeName: "mover", ...more() }), joining), refused);

        deepEqual(await readJoin(joining.home), before);
      });
    }

    test("is not joined by an address alone, which is not stored", async () => {
      await using joining = await context();
      await joinedElsewhere(joining);
      const { token: _token, ...without } = options({ nodeName: "mover", pins: [] });

      await rejects(nodeCredentials(without, joining), refused);

      equal((await readJoin(joining.home))?.server, "https://192.0.2.9:6443");
    });
  });

  test("a machine that has joined accepts the command of the same cluster again, also with a token that has expired", async () => {
    await using joining = await context();
    const joined = await nodeCredentials(options({ nodeName: "again" }), joining);
    const expired = { ...TOKEN, id: "zzzzzz" };
    deepEqual(await nodeCredentials(options({ ...AT_ONCE, nodeName: "again", token: expired }), joining), joined);
    deepEqual(await nodeCredentials(options({ ...AT_ONCE, nodeName: "again", token: expired, pins: [] }), joining), joined);
  });

  test("the name of a Ready node is rejected", async () => {
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "taken" } };
    equal((await server.ask("POST", "/api/v1/nodes", node)).code, 201);
    const { body } = await server.ask("GET", "/api/v1/nodes/taken");
    equal((await server.ask("PUT", "/api/v1/nodes/taken/status", { ...(JSON.parse(body) as object), status })).code, 200);
    await using joining = await context();
    await rejects(
      nodeCredentials(options({ nodeName: "taken" }), joining),
      /the cluster has a Ready node of this name; choose another one with --node-name/,
    );
  });
});
