import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ExchangeAnswer, Sink } from "../../apiserver/framework/exchange.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Kubelet } from "../../kubelet/kubelet.ts";
import { RuntimeError, type LogLine, type RuntimeContainer } from "../../kubelet/contracts/runtime.ts";
import { nodesConnector } from "./nodes-connector.ts";
import type { NodesPart } from "./simulated-nodes.ts";
import type { ConnectionCall, ConnectionTarget } from "../../apiserver/framework/node-connector.ts";
import { stub } from "../../base/testing/stub.ts";

const CONTAINER = { id: "c1", name: "main", state: { is: "running", startedAtMs: 0 } } as RuntimeContainer;

const POD = stub<Pod>({
  metadata: { name: "web", namespace: "default" },
  status: { containerStatuses: [{ name: "main", state: { running: {} }, containerID: "simulated://c1" }] },
});

/** One node, "node-0", with one Pod. */
function connectorTo(runtime: object & { logs?(): AsyncIterable<LogLine>; exec?(): Promise<number> }) {
  const kubelet = stub<Kubelet>({
    runtime,
    pod: ({ name }: { name: string }) => (name === "web" ? POD : undefined),
    container: () => Promise.resolve(CONTAINER),
  });
  const nodes = { whenBegun: async (name: string) => (name === "node-0" ? kubelet : undefined) } as NodesPart;
  return nodesConnector(() => nodes, { clock: new VirtualClock({ macrotask: () => Promise.resolve() }) });
}

function callOf(
  subresource: string,
  call: Partial<ConnectionCall> & { readonly node?: string; readonly pod?: string } = {},
): ConnectionCall {
  const { node = "node-0", pod = "web", ...rest } = call;
  const target: ConnectionTarget = {
    is: "kubelet",
    node: { name: node, host: "192.0.2.1", port: 10_250 },
    pod: { namespace: "default", name: pod },
    container: "main",
  };
  const { signal } = new AbortController();
  const body = () => Promise.resolve(new Uint8Array());
  return { subresource, target, options: { stdout: true }, method: "GET", path: "", query: "", headers: {}, body, signal, ...rest };
}

function textOf(answer: ExchangeAnswer): string {
  return "body" in answer ? answer.body.map((piece) => new TextDecoder().decode(piece)).join("") : "";
}

/** A client that takes what is written when it likes to. */
class Reader implements Sink {
  text = "";
  waitingBytes = 0;
  readonly over: Promise<void>;
  #over: () => void = () => undefined;
  #drained: () => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve) => (this.#over = resolve));
  }

  write({ bytes }: { readonly bytes: Uint8Array }): number {
    this.text += new TextDecoder().decode(bytes);
    return this.waitingBytes;
  }

  takes(): void {
    this.waitingBytes = 0;
    this.#drained();
  }

  end(): void {
    this.#over();
  }

  abort(): void {
    this.#over();
  }

  onClosed(): void {}

  onDrained(listener: () => void): void {
    this.#drained = listener;
  }
}

test("a log is read with backpressure from its client", async () => {
  let read = 0;
  async function* logs(): AsyncGenerator<LogLine> {
    for (; read < 3; read++) yield { atMs: 0, stream: "stdout", text: `line ${read}` };
  }
  const reader = new Reader();
  reader.waitingBytes = 10 << 20;
  const answer = await connectorTo({ logs }).connect(callOf("log"));
  if ("stream" in answer) answer.stream(reader);
  await new Promise((resolve) => setImmediate(resolve));

  equal(read, 0);
  reader.takes();
  await reader.over;

  equal(reader.text, "line 0\nline 1\nline 2\n");
});

test("an error in the middle of a log is reported at its end", async () => {
  async function* logs(): AsyncGenerator<LogLine> {
    yield { atMs: 0, stream: "stdout", text: "one" };
    throw new RuntimeError("NotFound", "it was removed");
  }
  const reader = new Reader();
  const answer = await connectorTo({ logs }).connect(callOf("log"));
  if ("stream" in answer) answer.stream(reader);
  await reader.over;

  equal(reader.text, "one\nit was removed");
});

test("the log of a Pod that the node does not have is rejected", async () => {
  const answer = await connectorTo({}).connect(callOf("log", { pod: "other" }));

  deepEqual(["code" in answer && answer.code, textOf(answer)], [404, 'pod "other" does not exist']);
});

for (const protocol of ["v5.channel.k8s.io", "v4.channel.k8s.io"]) {
  test(`a command runs over ${protocol}`, async () => {
    const answer = await connectorTo({ exec: () => Promise.resolve(0) }).connect(callOf("exec", { offer: { protocols: [protocol] } }));

    equal("run" in answer && answer.protocol, protocol);
    match(await outcomeOf(answer), /"status":"Success"/);
  });
}

/** Content of the error channel. */
function outcomeOf(answer: ExchangeAnswer): Promise<string> {
  return new Promise((resolve) => {
    const nothing = (): void => undefined;
    const socket = {
      onMessage: nothing,
      onClosed: nothing,
      pause: nothing,
      resume: nothing,
      close: nothing,
      abort: nothing,
      onDrained: nothing,
    };
    const send = (message: Uint8Array) => {
      if (message[0] === 3 && message.length > 1) resolve(new TextDecoder().decode(message.subarray(1)));
      return 0;
    };
    if ("run" in answer) answer.run({ ...socket, send });
  });
}

const V5 = { offer: { protocols: ["v5.channel.k8s.io"] } };

for (const { title, call, words } of [
  {
    title: "a command without any stream",
    call: callOf("exec", { ...V5, options: {} }),
    words: /you must specify at least 1 of stdin/,
  },
  {
    title: "a command on a node that does not respond",
    call: callOf("exec", { ...V5, node: "node-9" }),
    words: /dial tcp 192\.0\.2\.1:10250: /,
  },
  { title: "attaching", call: callOf("attach", V5), words: /cannot attach to container \\"main\\" in pod \\"web\\"/ },
]) {
  test(`${title} is rejected with a message that reaches the client`, async () => {
    match(await outcomeOf(await connectorTo({}).connect(call)), words);
  });
}

for (const { title, call, words } of [
  {
    title: "a client that speaks only what is not spoken here",
    call: callOf("exec", { offer: { protocols: ["v3.channel.k8s.io"] } }),
    words: /client supports \[v3/,
  },
  {
    title: "a log of a node that is silent",
    call: callOf("log", { node: "node-9" }),
    words: /^Error: error dialing backend: dial tcp 192\.0\.2\.1:10250: /,
  },
  {
    title: "forwarding of ports",
    call: callOf("portforward"),
    words: /^Error: cannot forward ports of pod "[^"]*": it is simulated and has no listening sockets$/,
  },
  {
    title: "a proxy",
    call: callOf("proxy", { target: { is: "server", scheme: "http", host: "10.0.0.1", port: 80 } }),
    words: /cannot connect to 10\.0\.0\.1:80: simulated Pods and nodes have no network/,
  },
]) {
  test(`${title} is rejected`, async () => {
    await rejects(connectorTo({}).connect(call), words);
  });
}

test("resource usage of a simulated node is read from its runtime", async () => {
  const usage = { atMs: 1_000, cpuNanoseconds: 2e9, memoryWorkingSetBytes: 4_096 };
  const container = { ...CONTAINER, name: "main" };
  const sandbox = { podUid: "u", namespace: "default", name: "web", createdAtMs: 0, containers: [container] };
  const runtime = {
    list: () => Promise.resolve([sandbox]),
    stats: () => Promise.resolve([{ podUid: "u", namespace: "default", name: "web", containers: [{ id: "c1", name: "main", ...usage }] }]),
    nodeStats: () => Promise.resolve(usage),
  };

  const text = textOf(await connectorTo(runtime).connect(callOf("metrics", { path: "/metrics/resource" })));

  match(text, /^node_cpu_usage_seconds_total 2 1000$/m);
  match(text, /^container_memory_working_set_bytes\{container="main",pod="web",namespace="default"\} 4096 1000$/m);
});
