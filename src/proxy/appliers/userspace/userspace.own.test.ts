import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { Disposables } from "../../../base/disposables.ts";
import { silentLogger } from "../../../base/logger.ts";
import { CommandError } from "../../../host/network/network-namespace.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { ApplierContext } from "../applier.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { loopbackOf, userspace } from "./userspace.ts";

/** Without permission for rules, as for a user who is not root. */
const CONTEXT: ApplierContext = {
  owner: "test",
  namespace: { name: "test", run: () => Promise.reject(new CommandError("Operation not permitted", { exitCode: 1 })) },
  options: { masqueradesAll: false, ipvsScheduler: "rr" },
  clock: realClock,
  log: silentLogger,
};

const LOOPBACK = { nodePortAddresses: ["127.0.0.0/8"] };

/** Until the other side ends; this one stays open, which the consumers of node:stream would end. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    socket.on("end", () => resolve(text)).on("error", reject);
  });
}

/** Answers each connection with its name and what the client sent. */
async function serveTcp(name: string, owner: Disposables): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => void received(socket).then((sent) => socket.end(`${name} got ${sent}`)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  owner.defer(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveUdp(name: string, owner: Disposables): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (data, from) => socket.send(`${name} got ${data.toString()}`, from.port, from.address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  owner.defer(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** A port that nothing listens on. */
async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function ask(port: number, host = "127.0.0.1"): Promise<string> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.end("hello");
  return received(socket);
}

async function askUdp(port: number): Promise<string> {
  const socket = createSocket("udp4");
  try {
    socket.send("hello", port, "127.0.0.1");
    const [answer] = (await once(socket, "message")) as [Buffer];
    return answer.toString();
  } finally {
    socket.close();
  }
}

test("without root, node ports lead to endpoints by round robin, and one that refuses is skipped", async () => {
  await using owner = new Disposables();
  const [nodePort, dead] = [await unusedPort(), await unusedPort()];
  const endpoints = [await serveTcp("one", owner), `127.0.0.1:${dead}`, await serveTcp("two", owner)];
  const applier = owner.use(await userspace.open(CONTEXT));
  assert.match(applier.description ?? "", /node ports and cluster IPs on loopback only: it needs root/);

  await applier.apply(aModel([aServicePort({ nodePort, endpoints })], LOOPBACK));

  const answers = [await ask(nodePort), await ask(nodePort), await ask(nodePort), await ask(nodePort)];
  assert.deepEqual(answers, ["one got hello", "two got hello", "two got hello", "one got hello"]);
});

test("without root, the port of a cluster IP is served on loopback", async () => {
  await using owner = new Disposables();
  const endpoints = [await serveTcp("one", owner)];
  const port = await unusedPort();
  const applier = owner.use(await userspace.open(CONTEXT));

  await applier.apply(aModel([aServicePort({ clusterIp: "10.96.7.8", port, endpoints })]));

  assert.equal(await ask(port, "127.96.7.8"), "one got hello");
  assert.deepEqual(loopbackOf("10.96.7.8", 80), { host: "127.96.7.8", port: 10_080 });
});

test("a removed Service is no longer served, and without endpoints connections are refused", async () => {
  await using owner = new Disposables();
  const [nodePort, endpoints] = [await unusedPort(), [await serveTcp("one", owner)]];
  const applier = owner.use(await userspace.open(CONTEXT));
  await applier.apply(aModel([aServicePort({ nodePort, endpoints })], LOOPBACK));
  assert.equal(await ask(nodePort), "one got hello");

  await applier.apply(aModel([aServicePort({ nodePort })], LOOPBACK));
  await assert.rejects(ask(nodePort), /ECONNREFUSED/);
  await applier.apply(aModel([aServicePort({ nodePort, endpoints })], LOOPBACK));
  assert.equal(await ask(nodePort), "one got hello");
  await applier.apply(aModel([], LOOPBACK));
  await assert.rejects(ask(nodePort), /ECONNREFUSED/);
});

test("session affinity keeps a client at one endpoint", async () => {
  await using owner = new Disposables();
  const nodePort = await unusedPort();
  const endpoints = [await serveTcp("one", owner), await serveTcp("two", owner)];
  const applier = owner.use(await userspace.open(CONTEXT));
  await applier.apply(aModel([aServicePort({ nodePort, endpoints, affinitySeconds: 600 })], LOOPBACK));

  const answers = [await ask(nodePort), await ask(nodePort), await ask(nodePort)];

  assert.equal(new Set(answers).size, 1);
});

test("UDP datagrams are answered, and the next endpoint gets what one refuses", async () => {
  await using owner = new Disposables();
  const [nodePort, dead] = [await unusedPort(), await unusedPort()];
  const endpoints = [`127.0.0.1:${dead}`, await serveUdp("one", owner)];
  const applier = owner.use(await userspace.open(CONTEXT));
  await applier.apply(aModel([aServicePort({ protocol: "UDP", nodePort, endpoints })], LOOPBACK));

  assert.equal(await askUdp(nodePort), "one got hello");
  assert.equal(await askUdp(nodePort), "one got hello");
});

test("a node port that another program uses is reported, and other Services work", async () => {
  await using owner = new Disposables();
  const endpoints = [await serveTcp("one", owner)];
  const taken = Number(endpoints[0]?.split(":")[1]);
  const free = await unusedPort();
  const applier = owner.use(await userspace.open(CONTEXT));

  await applier.apply(
    aModel([aServicePort({ name: "a", nodePort: taken, endpoints }), aServicePort({ name: "b", nodePort: free, endpoints })], LOOPBACK),
  );

  assert.equal(await ask(free), "one got hello");
});
