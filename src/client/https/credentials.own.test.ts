import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { isReason } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { testAuthority } from "../../testing/fixtures/certificates.ts";
import type { CredentialsConfig, ExecConfig, TokenSource } from "../kubeconfig/connection-config.ts";
import { httpsTransport } from "./https-transport.ts";
import { startScriptedServer, type Protocol, type Script, type ScriptedRequest, type ScriptedServer } from "./testing/scripted-server.ts";

function connect({ url, authority }: ScriptedServer, credentials: CredentialsConfig) {
  const config = { server: url, namespace: "", authority: { text: authority }, credentials, serverName: "localhost" };
  return httpsTransport(config, { clock: realClock, log: silentLogger, userAgent: "test" });
}

/** Echoes the credentials and rejects all but `good`. */
function echo(isGood: (authorization: string) => boolean = () => true): Script {
  return ({ headers }, reply) => {
    const { authorization = "" } = headers;
    if (isGood(authorization)) reply.send(200, { authorization });
    else
      reply.send(401, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Unauthorized", code: 401, message: "Unauthorized" });
  };
}

const fixed: readonly [CredentialsConfig, string][] = [
  [{}, ""],
  [{ token: "t" }, "Bearer t"],
  [{ basic: { username: "jürgen", password: "p:w" } }, `Basic ${Buffer.from("jürgen:p:w").toString("base64")}`],
];
for (const [credentials, authorization] of fixed) {
  test(`${JSON.stringify(credentials)} is sent as "${authorization}"`, async () => {
    await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
    await using transport = connect(server, credentials);
    assert.deepEqual(await transport.document("/"), { authorization });
  });
}

test("a token file is read again when the server rejects its token, once, and then given up", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-credentials-");
  const tokenFile = join(directory.path, "token");
  await writeFile(tokenFile, "one\n");
  let good = "Bearer one";
  await using server = await startScriptedServer(
    { protocol: "HTTP/2" },
    echo((shown) => shown === good),
  );
  await using transport = connect(server, { tokenFile });

  assert.deepEqual(await transport.document("/"), { authorization: "Bearer one" });
  await writeFile(tokenFile, "two");
  assert.deepEqual(await transport.document("/"), { authorization: "Bearer one" });
  good = "Bearer two";
  assert.deepEqual(await transport.document("/"), { authorization: "Bearer two" });
  good = "Bearer three";
  await assert.rejects(transport.document("/"), (error) => isReason(error, "Unauthorized") && error.message === "Unauthorized");
  assert.equal(server.asked.length, 5);
});

/** Tokens "one", "two", …; a new one is created only when the server has rejected the last. */
function countingSource(): TokenSource & { readonly refusals: string[] } {
  const words = ["one", "two", "three"];
  const refusals: string[] = [];
  return {
    refusals,
    token: () => Promise.resolve(words[refusals.length] ?? ""),
    refused: (token) => void refusals.push(token),
  };
}

test("a token source is informed of the rejected token and requested for another, once", async () => {
  let good = "Bearer one";
  await using server = await startScriptedServer(
    { protocol: "HTTP/2" },
    echo((shown) => shown === good),
  );
  const tokenSource = countingSource();
  await using transport = connect(server, { tokenSource });

  assert.deepEqual(await transport.document("/"), { authorization: "Bearer one" });
  good = "Bearer two";
  assert.deepEqual(await transport.document("/"), { authorization: "Bearer two" });
  assert.deepEqual(tokenSource.refusals, ["one"]);
  good = "Bearer none";
  await assert.rejects(transport.document("/"), (error) => isReason(error, "Unauthorized"));
  assert.deepEqual(tokenSource.refusals, ["one", "two"]);
  assert.equal(server.asked.length, 5);
});

test("a token source without another token is not called repeatedly", async () => {
  await using server = await startScriptedServer(
    { protocol: "HTTP/2" },
    echo(() => false),
  );
  await using transport = connect(server, { tokenSource: { token: () => "same", refused() {} } });

  await assert.rejects(transport.document("/"), (error) => isReason(error, "Unauthorized"));
  assert.equal(server.asked.length, 1);
});

for (const credentials of [{ token: "a\nb" }, { tokenSource: { token: () => "a\u0000b", refused() {} } }] satisfies CredentialsConfig[]) {
  test(`${JSON.stringify(credentials)} is rejected as a token, and nothing is sent`, async () => {
    await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
    await using transport = connect(server, credentials);
    await assert.rejects(
      transport.document("/"),
      /getting credentials: the token must be one line of letters, digits and signs, and character 2 is another \(U\+00/,
    );
    assert.equal(server.asked.length, 0);
  });
}

test("a missing token file is reported, and nothing is sent", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
  await using transport = connect(server, { tokenFile: "/none/token" });
  await assert.rejects(transport.document("/"), /getting credentials: failed to read token file "\/none\/token"/);
  assert.equal(server.asked.length, 0);
});

function peerName(request: ScriptedRequest): string {
  const socket = request.socket as TLSSocket;
  const { subject } = socket.getPeerCertificate();
  return (subject as { readonly CN?: string } | undefined)?.CN ?? "";
}

for (const protocol of ["HTTP/1.1", "HTTP/2"] satisfies Protocol[]) {
  test(`${protocol}: a client certificate renewed in its files is used as soon as the old one is rejected`, async () => {
    await using directory = await makeTemporaryDirectory("k8ts-credentials-");
    const authority = testAuthority("clients");
    const files = { certificate: join(directory.path, "cert"), key: join(directory.path, "key") };
    const write = async (name: string) => {
      const { certificate, key } = authority.sign(name);
      await Promise.all([writeFile(files.certificate, certificate), writeFile(files.key, key)]);
    };
    await write("old");
    let good = "old";
    await using server = await startScriptedServer({ protocol, clientAuthority: authority.certificate }, (request, reply) => {
      const name = peerName(request);
      reply.send(name === good ? 200 : 401, { name });
    });
    await using transport = connect(server, { certificate: { certificate: { file: files.certificate }, key: { file: files.key } } });

    assert.deepEqual(await transport.document("/"), { name: "old" });
    await write("new");
    good = "new";

    assert.deepEqual(await transport.document("/"), { name: "new" });
    assert.equal(server.connections, 2);
  });
}

interface PluginFiles {
  readonly exec: ExecConfig;
  /** Number of runs. */
  runs(): Promise<number>;
  readonly infoFile: string;
}

/** A plugin that counts its runs and returns the status that the JavaScript `status` computes; `run` is the number of the run. */
async function pluginOf(directory: string, status: string, more: Partial<ExecConfig> = {}): Promise<PluginFiles> {
  const command = join(directory, "plugin.mjs");
  const [runsFile, infoFile] = [join(directory, "runs"), join(directory, "info")];
  await writeFile(
    command,
    `#!${process.execPath}
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
appendFileSync(${JSON.stringify(runsFile)}, ".");
writeFileSync(${JSON.stringify(infoFile)}, process.env.KUBERNETES_EXEC_INFO);
const run = readFileSync(${JSON.stringify(runsFile)}, "utf8").length;
const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
console.log(JSON.stringify({ kind: "ExecCredential", apiVersion, status: ${status} }));
`,
  );
  await chmod(command, 0o700);
  const exec: ExecConfig = {
    command,
    arguments: [],
    environment: [],
    apiVersion: "client.authentication.k8s.io/v1",
    interactiveMode: "Never",
    provideClusterInfo: false,
    ...more,
  };
  return { exec, infoFile, runs: async () => (await readFile(runsFile, "utf8")).length };
}

test("an exec plugin runs once for all waiting requests, and again when its credentials are rejected", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-credentials-");
  const status = "{ token: process.env.WHO + process.argv[2] + run, expirationTimestamp: new Date(Date.now() + 3600e3).toISOString() }";
  const plugin = await pluginOf(directory.path, status, { arguments: ["-"], environment: [["WHO", "me"]] });
  let good = "Bearer me-1";
  await using server = await startScriptedServer(
    { protocol: "HTTP/2" },
    echo((shown) => shown === good),
  );
  await using transport = connect(server, { exec: plugin.exec });

  await Promise.all(Array.from({ length: 20 }, () => transport.document("/")));
  assert.equal(await plugin.runs(), 1);
  good = "Bearer me-2";
  await Promise.all(Array.from({ length: 20 }, () => transport.document("/")));
  assert.equal(await plugin.runs(), 2);
});

test("an exec plugin runs again when its credentials have expired", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-credentials-");
  const plugin = await pluginOf(directory.path, "{ token: String(run), expirationTimestamp: new Date(Date.now() - 1e3).toISOString() }");
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
  await using transport = connect(server, { exec: plugin.exec });
  await transport.document("/");
  const before = await plugin.runs();

  await transport.document("/");

  assert.equal(await plugin.runs(), before + 1);
});

test("an exec plugin receives the cluster information if it requests it", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-credentials-");
  const v1beta1 = "client.authentication.k8s.io/v1beta1";
  const more = { apiVersion: v1beta1, provideClusterInfo: true, clusterConfig: { audience: "x" } };
  const plugin = await pluginOf(directory.path, `{ token: "t" }`, more);
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
  await using transport = connect(server, { exec: plugin.exec });

  await transport.document("/");

  assert.deepEqual(JSON.parse(await readFile(plugin.infoFile, "utf8")), {
    kind: "ExecCredential",
    apiVersion: v1beta1,
    spec: {
      interactive: false,
      cluster: {
        server: server.url,
        "tls-server-name": "localhost",
        "certificate-authority-data": Buffer.from(server.authority).toString("base64"),
        config: { audience: "x" },
      },
    },
  });
});

test("a certificate from an exec plugin is used, and a new one over a new connection", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-credentials-");
  const authority = testAuthority("clients");
  const pairs = ["one", "two"].map((name) => authority.sign(name));
  const statuses = pairs.map(({ certificate, key }) => ({ clientCertificateData: certificate, clientKeyData: key }));
  const plugin = await pluginOf(directory.path, `${JSON.stringify(statuses)}[run - 1]`);
  let good = "one";
  await using server = await startScriptedServer({ protocol: "HTTP/2", clientAuthority: authority.certificate }, (request, reply) => {
    const name = peerName(request);
    reply.send(name === good ? 200 : 401, { name });
  });
  await using transport = connect(server, { exec: plugin.exec });

  assert.deepEqual(await transport.document("/"), { name: "one" });
  good = "two";
  assert.deepEqual(await transport.document("/"), { name: "two" });
  assert.equal(server.connections, 2);
});

const failures: readonly [what: string, status: string, more: Partial<ExecConfig>, message: RegExp][] = [
  ["is missing", "{}", { command: "/none/login", installHint: "Get it at example.com" }, /executable \/none\/login not found[^]*Get it at/],
  ["fails", "process.exit(3)", {}, /failed with exit code 3/],
  ["returns nothing", "undefined", {}, /exec plugin didn't return a status field/],
  ["has no token", "{}", {}, /exec plugin didn't return a token or cert\/key pair/],
  ["has a token that is none", "{ token: 5 }", {}, /decoding stdout: token must be a string, is a number/],
  ["has half of a pair", `{ clientKeyData: "k" }`, {}, /exec plugin returned only certificate or key, not both/],
  ["needs a terminal", `{ token: "t" }`, { interactiveMode: "Always" }, /standard input is not a terminal/],
];
for (const [what, status, more, message] of failures) {
  test(`an exec plugin that ${what} is reported as upstream does, and nothing is sent`, async () => {
    await using directory = await makeTemporaryDirectory("k8ts-credentials-");
    const plugin = await pluginOf(directory.path, status, more);
    await using server = await startScriptedServer({ protocol: "HTTP/2" }, echo());
    await using transport = connect(server, { exec: plugin.exec });

    await assert.rejects(transport.document("/"), (error) => isReason(error, "Unauthorized") && message.test(error.message));

    assert.equal(server.asked.length, 0);
  });
}
