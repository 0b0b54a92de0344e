import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import test, { after, before } from "node:test";
import { realClock } from "../../../host/real-clock.ts";
import { BUSYBOX_1 } from "../../../testing/fixtures/busybox-image.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { needs } from "../../../testing/needs.ts";
import { readAll, streamPair } from "../../../testing/fixtures/stream-pair.ts";
import type { ExecStreams, TerminalSize } from "../../contracts/runtime.ts";
import { attach, createContainer, exec, portForward, startContainer } from "./messages/container.ts";
import { openCriClient, type CriClient } from "./cri-client.ts";
import { runPodSandbox } from "./messages/sandbox.ts";
import { streamAttach, streamExec, streamPortForward } from "./streaming.ts";

const real = needs("containerd", "cni", "busybox", "iptables");
const FOREVER = new AbortController().signal;

let containerd: TestContainerd;
let cri: CriClient;
let sandboxId: string;
let containerId: string;

before(async () => {
  if (real.skip !== false) return;
  containerd = await startTestContainerd();
  cri = await openCriClient(containerd.endpoint, realClock);
  const metadata = { name: "streams", uid: "streams-1", namespace: "default", attempt: 0 };
  const config = {
    metadata,
    hostname: "streams",
    logDirectory: `${containerd.directory}/logs`,
    linux: { cgroupParent: containerd.cgroupParent },
  };
  ({ id: sandboxId } = await cri.call(runPodSandbox, { config }));
  containerId = await startShell("main", "trap 'exit 0' TERM; sleep 3600 & wait");

  async function startShell(name: string, script: string): Promise<string> {
    const container = {
      metadata: { name, attempt: 0 },
      image: { image: BUSYBOX_1 },
      command: ["sh", "-c", script],
      logPath: `${name}.log`,
    };
    const { id } = await cri.call(createContainer, { sandboxId, config: container, sandboxConfig: config });
    await cri.call(startContainer, { id });
    return id;
  }
});

after(async () => {
  cri?.[Symbol.dispose]();
  await containerd?.[Symbol.asyncDispose]();
});

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function execUrl(command: readonly string[], streams: ExecStreams): Promise<string> {
  const tty = streams.tty === true;
  const { url } = await cri.call(exec, { id: containerId, command, tty, stdin: streams.input !== undefined, stdout: true, stderr: !tty });
  return url;
}

async function runScript(script: string, streams: Partial<ExecStreams> = {}): Promise<Ran> {
  const output: Uint8Array[] = [];
  const errors: Uint8Array[] = [];
  const all = { output: (chunk: Uint8Array) => void output.push(chunk), error: (chunk: Uint8Array) => void errors.push(chunk), ...streams };
  const code = await streamExec(await execUrl(["sh", "-c", script], all), all, FOREVER);
  return { code, output: Buffer.concat(output).toString(), errors: Buffer.concat(errors).toString() };
}

async function* chunks(...words: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const word of words) yield Buffer.from(word);
}

test("exec returns stdout, stderr and the exit code of a command", { ...real }, async () => {
  assert.deepEqual(await runScript("echo out; echo err >&2; exit 7"), { code: 7, output: "out\n", errors: "err\n" });
});

test("closing stdin ends the input of an exec'd command", { ...real }, async () => {
  assert.deepEqual(await runScript("cat; echo over", { input: chunks("one\n", "two\n") }), {
    code: 0,
    output: "one\ntwo\nover\n",
    errors: "",
  });
});

test("an exec'd command that does not read its open stdin still exits", { ...real }, async () => {
  // At most the size of a pipe: with more, containerd 1.6 waits forever for a reader.
  async function* input(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(32 << 10, "x");
    yield* neverEnding();
  }

  assert.deepEqual(await runScript("head -c 3", { input: input() }), { code: 0, output: "xxx", errors: "" });
});

test("exec of a missing program fails with the runtime's message", { ...real }, async () => {
  const streams = { output: () => undefined, error: () => undefined };

  await assert.rejects(streamExec(await execUrl(["/no/such/program"], streams), streams, FOREVER), {
    name: "Error",
    reason: "CannotRun",
    message: /^error executing command in container: .*no such file or directory/,
  });
});

test("a terminal gets the sizes of the client in order", { ...real }, async () => {
  let sendSecond: () => void = () => undefined;
  const second = new Promise<void>((resolve) => (sendSecond = resolve));
  async function* sizes(): AsyncGenerator<TerminalSize> {
    yield { width: 100, height: 30 };
    await second;
    yield { width: 120, height: 40 };
  }
  let output = "";

  const ran = await runScript(
    "until [ \"$(stty size 2>/dev/null)\" = '30 100' ]; do :; done; echo first; until [ \"$(stty size 2>/dev/null)\" = '40 120' ]; do :; done; stty size",
    {
      tty: true,
      input: neverEnding(),
      sizes: sizes(),
      output(chunk) {
        output += Buffer.from(chunk).toString();
        if (output.includes("first")) sendSecond();
      },
    },
  );

  assert.deepEqual([ran.code, output], [0, "first\r\n40 120\r\n"]);
});

function neverEnding(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
}

test("20 MB pass through an exec'd command unchanged", { ...real }, async () => {
  const piece = randomBytes(1 << 20);
  const sent = createHash("sha256");
  const received = createHash("sha256");
  async function* input(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 20; count++) {
      sent.update(piece);
      yield piece;
    }
  }

  const { code } = await runScript("cat", { input: input(), output: (chunk) => void received.update(chunk) });

  assert.equal(code, 0);
  assert.equal(received.digest("hex"), sent.digest("hex"));
});

test("a slow reader of stdout applies backpressure to the command", { ...real }, async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let firstCame: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (firstCame = resolve));
  let receivedBytes = 0;

  const running = runScript("head -c 67108864 /dev/zero; echo finished >&2", {
    async output(chunk) {
      receivedBytes += chunk.length;
      firstCame();
      await held;
    },
  });
  await first;
  // The command is still running: the data in flight fits into pipes, sockets and this process.
  const look = await runScript("ps | grep -c '[h]ead -c 67108864'");

  assert.equal(look.output, "2\n");
  release();
  assert.deepEqual(await running, { code: 0, output: "", errors: "finished\n" });
  assert.equal(receivedBytes, 64 << 20);
});

test("aborting an exec rejects with the signal's reason", { ...real }, async () => {
  const given = new AbortController();
  let started: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (started = resolve));
  const streams = { output: () => started(), error: () => undefined };

  const result = streamExec(await execUrl(["sh", "-c", "echo started; sleep 60"], streams), streams, given.signal);
  await running;
  given.abort(new Error("Cancelled by the test"));

  await assert.rejects(result, /Cancelled by the test/);
});

test("a streaming URL serves one stream only, and a second one fails with the runtime's message", { ...real }, async () => {
  const streams = { output: () => undefined, error: () => undefined };
  const url = await execUrl(["true"], streams);
  await streamExec(url, streams, FOREVER);

  await assert.rejects(streamExec(url, streams, FOREVER), /unable to upgrade connection: 404 page not found/);
});

test("attach connects to a container's main process", { ...real }, async () => {
  const metadata = { name: "reader", attempt: 0 };
  const config = {
    metadata,
    image: { image: BUSYBOX_1 },
    // The reading process does nothing else: a read with a timeout would lose a partial word.
    command: ["sh", "-c", "(while :; do echo waiting; sleep 1; done) & read word; kill $!; wait $!; echo got $word"],
    logPath: "reader.log",
    stdin: true,
    // Otherwise the runtime closes the output when the input ends.
    stdinOnce: true,
  };
  const sandboxConfig = {
    metadata: { name: "streams", uid: "streams-1", namespace: "default" },
    logDirectory: `${containerd.directory}/logs`,
  };
  const { id } = await cri.call(createContainer, { sandboxId, config, sandboxConfig });
  await cri.call(startContainer, { id });
  const { url } = await cri.call(attach, { id, stdin: true, stdout: true, stderr: true, tty: false });
  let output = "";
  let heard = (): void => undefined;
  const isJoined = new Promise<void>((resolve) => (heard = resolve));
  // The runtime attaches input and output one after the other: output before the second is lost.
  const answer = async function* (): AsyncGenerator<Uint8Array> {
    await isJoined;
    yield new TextEncoder().encode("hello\n");
  };

  const streams = {
    input: answer(),
    output(chunk: Uint8Array) {
      output += Buffer.from(chunk).toString();
      heard();
    },
    error: () => undefined,
  };
  await streamAttach(url, streams, FOREVER);

  assert.match(output, /^(waiting\n)+got hello\n$/);
});

test("a forwarded port carries bytes in both directions until each side closes", { ...real }, async () => {
  const serving = runScript("nc -l -p 8080 -e sh -c 'read word; echo you said $word'");
  await runScript("until netstat -ltn | grep -q :8080; do :; done");
  const { url } = await cri.call(portForward, { sandboxId, ports: [8080] });
  const [near, far] = streamPair();

  const forwarding = streamPortForward(url, 8080, far, FOREVER);
  await near.write(Buffer.from("hello\n"));
  const answer = Buffer.from(await readAll(near.input)).toString();

  assert.equal(answer, "you said hello\n");
  await forwarding;
  await serving;
});

test("forwarding a port without a listener fails with the runtime's message", { ...real }, async () => {
  const { url } = await cri.call(portForward, { sandboxId, ports: [9999] });
  const [, far] = streamPair();

  await assert.rejects(streamPortForward(url, 9999, far, FOREVER), {
    reason: "CannotRun",
    message: /^error forwarding port 9999 to pod .*connection refused/,
  });
});

test("an invalid or unreachable streaming URL is rejected with a message", async () => {
  const streams = { output: () => undefined, error: () => undefined };

  await assert.rejects(
    streamExec("/exec/token", streams, FOREVER),
    /Cannot connect to the runtime's streaming server at "\/exec\/token": it must be an absolute URL/,
  );
  await assert.rejects(streamExec("http://127.0.0.1:9/exec/token", streams, FOREVER), {
    reason: "Unavailable",
    message: /^error dialing backend: /,
  });
});
