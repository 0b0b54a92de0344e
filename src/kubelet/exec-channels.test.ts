import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { badRequest } from "../api/machinery/status-error.ts";
import { chooseProtocol, serveExec, type ChannelSocket, type ExecRun } from "./exec-channels.ts";

const encoder = new TextEncoder();

/** A client at the other end: what it got, and what it does. */
class Client implements ChannelSocket {
  readonly got: [channel: number, text: string][] = [];
  isPaused = false;
  end: number | "aborted" | undefined;
  /** As if it had not read so much. */
  unreadBytes = 0;
  #hear: (message: Uint8Array) => void = () => undefined;
  #closed: () => void = () => undefined;

  /** What a client does. */
  says(channel: number, payload: string | readonly number[]): void {
    this.#hear(new Uint8Array([channel, ...(typeof payload === "string" ? encoder.encode(payload) : payload)]));
  }

  goes(): void {
    this.#closed();
  }

  send(message: Uint8Array): number {
    this.got.push([message[0] ?? -1, new TextDecoder().decode(message.subarray(1))]);
    return this.unreadBytes;
  }

  onMessage(listener: (message: Uint8Array) => void): void {
    this.#hear = listener;
  }

  onClosed(listener: () => void): void {
    this.#closed = listener;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code?: number): void {
    this.end = code;
  }

  abort(): void {
    this.end = "aborted";
    this.#closed();
  }
}

const ALL = { stdin: true, stdout: true, stderr: true };

const echo: ExecRun = async ({ input, output }) => {
  for await (const chunk of input ?? []) output(chunk);
  return 0;
};

const SUCCESS = [3, '{"metadata":{},"status":"Success"}'];

for (const { offered, chosen } of [
  { offered: ["v5.channel.k8s.io", "v4.channel.k8s.io"], chosen: "v5.channel.k8s.io" },
  { offered: ["channel.k8s.io", "v4.channel.k8s.io"], chosen: "v4.channel.k8s.io" },
  { offered: ["v3.channel.k8s.io"], chosen: undefined },
  { offered: [], chosen: undefined },
]) {
  test(`of the protocols [${offered.join(", ")}] ${chosen ?? "none"} is chosen`, () => {
    equal(chooseProtocol(offered), chosen);
  });
}

test("input goes to the command until the client ends it, output back, and then comes the outcome", async () => {
  const client = new Client();
  const over = serveExec(client, ALL, echo);
  client.says(0, "one");
  client.says(0, "");
  client.says(4, '{"Width":80,"Height":24}');
  client.says(0, "two");
  client.says(255, [0]);
  client.says(0, "too late");
  await over;

  deepEqual([client.got, client.end], [[[1, "one"], [1, "two"], SUCCESS], 1000]);
});

test("the end of another channel is not the end of the input", async () => {
  const client = new Client();
  const over = serveExec(client, ALL, echo);
  client.says(255, [4]);
  client.says(0, "still here");
  client.says(255, [0]);
  await over;

  deepEqual(client.got, [[1, "still here"], SUCCESS]);
});

const speak: ExecRun = async ({ input, output, error }) => {
  output(encoder.encode(input === undefined ? "no input" : "input"));
  error(encoder.encode("error"));
  return 0;
};

for (const { channels, expected } of [
  { channels: ALL, expected: [[1, "input"], [2, "error"], SUCCESS] },
  { channels: { stdout: true }, expected: [[1, "no input"], SUCCESS] },
  { channels: { stderr: true }, expected: [[2, "error"], SUCCESS] },
  // A terminal has one way out.
  { channels: { stdin: true, stdout: true, tty: true }, expected: [[1, "input"], [1, "error"], SUCCESS] },
]) {
  test(`a client that wants ${Object.keys(channels).join(", ")} gets ${JSON.stringify(expected.slice(0, -1))}`, async () => {
    const client = new Client();
    await serveExec(client, channels, speak);

    deepEqual(client.got, expected);
  });
}

for (const { title, run, expected } of [
  {
    title: "an exit code",
    run: () => Promise.resolve(3),
    expected: {
      metadata: {},
      status: "Failure",
      message: "command terminated with non-zero exit code: command terminated with exit code 3",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    },
  },
  { title: "a refusal", run: () => Promise.reject(badRequest("not like this")), expected: badRequest("not like this").toStatus() },
  {
    title: "a failure",
    run: () => Promise.reject(new Error("it broke")),
    expected: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Internal error occurred: it broke",
      reason: "InternalError",
      details: { causes: [{ message: "it broke" }] },
      code: 500,
    },
  },
]) {
  test(`${title} is told as the outcome, and the socket is closed as it should be`, async () => {
    const client = new Client();
    await serveExec(client, ALL, run);

    deepEqual(
      client.got.map(([channel, text]) => [channel, JSON.parse(text) as unknown]),
      [[3, expected]],
    );
    equal(client.end, 1000);
  });
}

test("a command whose client has gone is told, and its input ends", async () => {
  const client = new Client();
  const seen: string[] = [];
  const over = serveExec(client, ALL, async ({ input }, signal) => {
    for await (const chunk of input ?? []) seen.push(new TextDecoder().decode(chunk));
    seen.push(`aborted: ${signal.aborted}`);
    return 137;
  });
  client.says(0, "last words");
  client.goes();
  await over;

  deepEqual(seen, ["last words", "aborted: true"]);
});

test("a client that sends what nobody reads is held up, and let go when it is read or all is over", async () => {
  const client = new Client();
  let finish: (exitCode: number) => void = () => undefined;
  const over = serveExec(client, ALL, () => new Promise((resolve) => (finish = resolve)));
  const megabyte = "x".repeat(1 << 20);
  client.says(0, "a little");
  equal(client.isPaused, false);
  client.says(0, megabyte);
  equal(client.isPaused, true);

  finish(0);
  await over;

  deepEqual([client.isPaused, client.got], [false, [SUCCESS]]);
});

test("a client that reads nothing is left behind before its output fills the memory", async () => {
  const client = new Client();
  client.unreadBytes = 100 << 20;
  let wasAborted = false;
  await serveExec(client, ALL, async ({ output }, signal) => {
    output(encoder.encode("more"));
    wasAborted = signal.aborted;
    return 0;
  });

  deepEqual([wasAborted, client.got[0]], [true, [1, "more"]]);
});
