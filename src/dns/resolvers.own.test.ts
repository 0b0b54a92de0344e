/**
 * The DNS server as other programs see it: dig, glibc's and musl's resolvers with the resolv.conf of a Pod. The resolvers only use port 53,
 * so the server listens on it on a loopback address of its own, and the file is mounted for their process only.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { services } from "../api/core/v1/service.ts";
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { Disposables } from "../base/disposables.ts";
import { makeTemporaryDirectory } from "../host/files/private-files.ts";
import { ListenError } from "../host/http/server.ts";
import { becomes } from "../testing/becomes.ts";
import { needs, toolPath } from "../testing/needs.ts";
import { serviceDraft, startClusterDns, type ClusterDns } from "../testing/servers/cluster-dns.ts";
import { ask } from "./testing/dns-client.ts";
import { startTestUpstream, type TestUpstream } from "./testing/test-upstream.ts";

const run = promisify(execFile);
/** Reached only on failure. */
const TIMEOUT_MS = 60_000;

const owned = new Disposables();
let cluster: ClusterDns;
let upstream: TestUpstream;
let directory = "";
let resolvConf = "";

/** Root, for port 53 and mounts. */
const { skip } = needs("tmpfs");

before(async () => {
  if (skip !== false) return;
  upstream = owned.use(await startTestUpstream([192, 0, 2, 80]));
  cluster = owned.use(await startOnPort53([upstream.name]));
  const { client, peer } = cluster;
  await client.create(services, serviceDraft("web", { clusterIP: "10.96.0.20", ports: [{ name: "http", port: 80 }] }));
  await client.create(services, serviceDraft("outside", { type: "ExternalName", externalName: "www.example.com" }));
  await client.create(services, serviceDraft("db", { clusterIP: "None", ports: [{ name: "sql", port: 5432 }] }));
  await client.create(endpointSlices, {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", ports: [{ name: "sql", port: 5432 }] },
    metadata: { namespace: "default", name: "db", labels: { "kubernetes.io/service-name": "db" } },
    endpoints: Array.from({ length: 60 }, (_, index) => ({ addresses: [`10.244.1.${index + 1}`], hostname: `db-${index}` })),
  });
  await becomes(async () => (await ask(peer, "db-59.db.default.svc.cluster.local")).startsWith("NOERROR"), true);
  directory = owned.use(await makeTemporaryDirectory("k8ts-dns-")).path;
  resolvConf = join(directory, "resolv.conf");
  const searches = "default.svc.cluster.local svc.cluster.local cluster.local";
  await writeFile(resolvConf, `nameserver ${peer.address}\nsearch ${searches}\noptions ndots:5 timeout:10 attempts:5\n`);
});
after(() => owned[Symbol.asyncDispose]());

/** On any loopback address whose port no other program has. */
async function startOnPort53(upstreams: readonly string[], attempts = 10): Promise<ClusterDns> {
  const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  try {
    return await startClusterDns({ upstreams, listen: { host, port: 53 } });
  } catch (error) {
    if (attempts === 1 || !(error instanceof ListenError)) throw error;
    return startOnPort53(upstreams, attempts - 1);
  }
}

describe("dig", { ...needs("dig", "tmpfs") }, () => {
  async function dig(...words: readonly string[]): Promise<string> {
    const given = [`@${cluster.peer.address}`, "+timeout=10", "+tries=5", ...words];
    const { stdout } = await run(toolPath("dig"), given, { timeout: TIMEOUT_MS });
    return stdout;
  }

  const short: readonly [words: string, answer: string][] = [
    ["web.default.svc.cluster.local", "10.96.0.20"],
    ["+tcp web.default.svc.cluster.local", "10.96.0.20"],
    ["-x 10.96.0.20", "web.default.svc.cluster.local."],
    ["-x 10.244.1.7", "db-6.db.default.svc.cluster.local."],
    ["_http._tcp.web.default.svc.cluster.local SRV", "0 100 80 web.default.svc.cluster.local."],
    ["dns-version.cluster.local TXT", '"1.1.0"'],
    ["outside.default.svc.cluster.local", "www.example.com.\n192.0.2.80"],
    ["outside.default.svc.cluster.local CNAME", "www.example.com."],
    ["1-2-3-4.default.pod.cluster.local", "1.2.3.4"],
    ["www.example.org", "192.0.2.80"],
  ];
  for (const [words, answer] of short) test(`dig ${words}`, async () => equal((await dig("+short", ...words.split(" "))).trim(), answer));

  test("60 endpoints come over TCP after a truncated response over UDP", async () => {
    equal((await dig("+short", "+bufsize=512", "db.default.svc.cluster.local")).trim().split("\n").length, 60);
    match(await dig("+bufsize=512", "+ignore", "db.default.svc.cluster.local"), /flags: qr aa tc rd ra;/);
    equal((await dig("+short", "+tcp", "_sql._tcp.db.default.svc.cluster.local", "SRV")).trim().split("\n").length, 60);
  });

  test("a name that does not exist has the SOA record of the zone", async () => {
    const text = await dig("missing.default.svc.cluster.local");
    match(text, /status: NXDOMAIN/);
    match(text, /AUTHORITY: 1/);
    match(text, /cluster\.local\.\s+5\s+IN\s+SOA\s+ns\.dns\.cluster\.local\. hostmaster\.cluster\.local\. \d+ 7200 1800 86400 5/);
    match(text, /EDNS: version: 0/);
  });

  const states: readonly [words: string, status: string][] = [
    ["+edns=1 +noednsnegotiation web.default.svc.cluster.local", "BADVERS"],
    ["-c CH version.bind TXT", "REFUSED"],
    ["+opcode=notify cluster.local", "NOTIMP"],
    ["+header-only", "FORMERR"],
    ["cluster.local AXFR +noall +comments", "failed"],
  ];
  for (const [words, status] of states)
    test(`dig ${words} ends with ${status}`, async () => {
      const text = await dig(...words.split(" "));
      equal(status === "failed" ? /Transfer failed/.test(text) : text.includes(`status: ${status}`), true, text);
    });
});

/** As in a Pod: by the short name, with the namespace, as a whole, by a name of the internet. */
const NAMES: readonly [name: string, address: string][] = [
  ["web", "10.96.0.20"],
  ["web.default", "10.96.0.20"],
  ["web.default.svc", "10.96.0.20"],
  ["web.default.svc.cluster.local", "10.96.0.20"],
  ["db-3.db", "10.244.1.4"],
  ["outside", "192.0.2.80"],
  ["www.example.com", "192.0.2.80"],
];

/** Runs a program that sees the Pod's resolv.conf. Resolves with its distinct lines. */
async function inPod(...command: readonly string[]): Promise<readonly string[]> {
  const script = 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)" && exec "$@"';
  const { stdout } = await run("unshare", ["--mount", "sh", "-c", script, resolvConf, ...command], { timeout: TIMEOUT_MS });
  return [...new Set(stdout.trim().split("\n"))];
}

describe("glibc's resolver", { ...needs("tmpfs") }, () => {
  for (const [name, address] of NAMES)
    test(`${name} is ${address}`, async () => {
      const lines = await inPod("getent", "ahostsv4", name);
      deepEqual([...new Set(lines.map((line) => line.split(/\s+/)[0]))], [address]);
    });

  test("60 endpoints are all found", async () => {
    const lines = await inPod("getent", "ahostsv4", "db");
    equal(new Set(lines.map((line) => line.split(/\s+/)[0])).size, 60);
  });

  test("an address has the name of its Service", async () => {
    match((await inPod("getent", "hosts", "10.96.0.20")).join(), /^10\.96\.0\.20\s+web\.default\.svc\.cluster\.local$/);
  });
});

const PROGRAM = `
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
int main(int count, char **words) {
  struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *all;
  int failure = getaddrinfo(words[1], 0, &hints, &all);
  if (failure) { printf("%s\\n", gai_strerror(failure)); return 0; }
  for (; all; all = all->ai_next) {
    char text[INET_ADDRSTRLEN];
    puts(inet_ntop(AF_INET, &((struct sockaddr_in *)all->ai_addr)->sin_addr, text, sizeof text));
  }
}
`;

describe("musl's resolver", { ...needs("musl", "gcc", "tmpfs") }, () => {
  let program = "";

  before(async () => {
    program = join(directory, "resolve");
    await writeFile(`${program}.c`, PROGRAM);
    await run(toolPath("musl"), ["-static", "-o", program, `${program}.c`], { timeout: TIMEOUT_MS });
  });

  for (const [name, address] of NAMES) test(`${name} is ${address}`, async () => deepEqual(await inPod(program, name), [address]));

  test("a name that does not exist is reported as such", async () => {
    deepEqual(await inPod(program, "missing.default"), ["Name does not resolve"]);
  });
});
