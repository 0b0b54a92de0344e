import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { badRequest } from "../../api/machinery/status-error.ts";
import { BASE64, BINARY } from "./web-socket-channels.ts";
import { chooseProtocol, serveExec, type ExecProtocol, type ExecRun } from "./exec-channels.ts";
import type { TerminalSize } from "../contracts/runtime.ts";
import { ChannelClient } from "../testing/channel-client.ts";

const encoder = new TextEncoder();

const ALL = { stdin: true, stdout: true, stderr: true };

const echo: ExecRun = async ({ input, output }) => {
  for await (const chunk of input ?? []) await output(chunk);
  return 0;
};

const SUCCESS = [3, '{"metadata":{},"status":"Success"}'];

for (const { offered, chosen } of [
  { offered: ["v5.channel.k8s.io", "v4.channel.k8s.io"], chosen: "v5.channel.k8s.io" },
  // A client that supports the newest version gets it, whatever its order of preference.
  { offered: ["v4.channel.k8s.io", "v5.channel.k8s.io"], chosen: "v5.channel.k8s.io" },
  { offered: ["base64.channel.k8s.io", "v4.channel.k8s.io"], chosen: "base64.channel.k8s.io" },
  { offered: ["v3.channel.k8s.io", "channel.k8s.io"], chosen: "channel.k8s.io" },
  { offered: ["v4.base64.channel.k8s.io"], chosen: "v4.base64.channel.k8s.io" },
  { offered: ["v3.channel.k8s.io"], chosen: undefined },
  { offered: ["__proto__"], chosen: undefined },
  { offered: [], chosen: "" },
]) {
  test(`of the protocols [${offered.join(", ")}] ${chosen === undefined ? "none" : `"${chosen}"`} is chosen`, () => {
    equal(chooseProtocol(offered), chosen);
  });
}

test("stdin reaches the command until the client closes it, output goes back, and the outcome comes last", async () => {
  const client = new ChannelClient();
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

test("closing another channel does not close stdin", async () => {
  const client = new ChannelClient();
  const over = serveExec(client, ALL, echo);
  client.says(255, [4]);
  client.says(0, "still here");
  client.says(255, [0]);
  await over;

  deepEqual(client.got, [[1, "still here"], SUCCESS]);
});

const speak: ExecRun = async ({ input, output, error }) => {
  await output(encoder.encode(input === undefined ? "no input" : "input"));
  await error(encoder.encode("error"));
  return 0;
};

for (const { channels, expected } of [
  { channels: ALL, expected: [[1, "input"], [2, "error"], SUCCESS] },
  { channels: { stdout: true }, expected: [[1, "no input"], SUCCESS] },
  { channels: { stderr: true }, expected: [[2, "error"], SUCCESS] },
  // A terminal has a single output stream.
  { channels: { stdin: true, stdout: true, tty: true }, expected: [[1, "input"], [1, "error"], SUCCESS] },
]) {
  test(`a client that requests ${Object.keys(channels).join(", ")} gets ${JSON.stringify(expected.slice(0, -1))}`, async () => {
    const client = new ChannelClient();
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
  test(`${title} is reported as the outcome, and the socket is closed normally`, async () => {
    const client = new ChannelClient();
    await serveExec(client, ALL, run);

    deepEqual(
      client.got.map(([channel, text]) => [channel, JSON.parse(text) as unknown]),
      [[3, expected]],
    );
    equal(client.end, 1000);
  });
}

test("a command whose client disconnected is cancelled, and its stdin ends", async () => {
  const client = new ChannelClient();
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

test("a client that sends more than is read is paused, and resumed when it is read or the session ends", async () => {
  const client = new ChannelClient();
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

test("a paused client is resumed when its input is read", async () => {
  const client = new ChannelClient();
  let read = (): void => undefined;
  const over = serveExec(client, ALL, async ({ input }) => {
    await new Promise<void>((resolve) => (read = resolve));
    for await (const _ of input ?? []) return client.isPaused ? 1 : 0;
    return 2;
  });
  client.says(0, "x".repeat(1 << 20));
  equal(client.isPaused, true);
  read();
  await over;

  deepEqual(client.got, [SUCCESS]);
});

test("a command waits for a client that does not read, and resumes when it has read or disconnected", async () => {
  for (const resume of ["reads", "goes"] as const) {
    const client = new ChannelClient();
    const steps: string[] = [];
    const over = serveExec(client, ALL, async ({ output }) => {
      await output(encoder.encode("a little"));
      client.unreadBytes = 2 << 20;
      await output(encoder.encode("a lot"));
      steps.push("let go");
      return 0;
    });
    await Promise.resolve();
    await Promise.resolve();
    steps.push(resume);
    client[resume]();
    await over;

    deepEqual(steps, [resume, "let go"]);
  }
});

test("input that was not requested is dropped and pauses no client", async () => {
  const client = new ChannelClient();
  const over = serveExec(client, { stdout: true }, async () => {
    client.says(0, "x".repeat(2 << 20));
    return 0;
  });
  equal(client.isPaused, false);
  await over;
});

for (const { channels, first } of [
  { channels: ALL, first: 1 },
  { channels: { stderr: true }, first: 2 },
  { channels: { stdin: true }, first: 3 },
]) {
  test(`a client that requests ${Object.keys(channels).join(", ")} receives the first message on channel ${first}`, async () => {
    const client = new ChannelClient();
    await serveExec(client, channels, () => Promise.resolve(0));

    deepEqual(client.channels, [first, 3]);
  });
}

test("a command gets the newest terminal size, and invalid sizes are ignored", async () => {
  const client = new ChannelClient();
  const seen: TerminalSize[] = [];
  const over = serveExec(client, { ...ALL, tty: true }, async ({ sizes, tty }) => {
    equal(tty, true);
    for await (const size of sizes ?? []) {
      seen.push(size);
      if (seen.length === 1) client.says(4, '{"Width":3,"Height":4}');
      else return 0;
    }
    return 1;
  });
  for (const size of [
    '{"Width":1,"Height":1}',
    '{"Width":1,"Height":2}',
    "{",
    "null",
    '{"Width":-1,"Height":1}',
    '{"Width":70000,"Height":1}',
  ])
    client.says(4, size);
  await over;

  deepEqual(seen, [
    { width: 1, height: 2 },
    { width: 3, height: 4 },
  ]);
});

const FAILS: ExecRun = () => Promise.resolve(7);
const FAILED = "command terminated with non-zero exit code: command terminated with exit code 7";

for (const { protocol, framing, failure } of [
  { protocol: "v4.channel.k8s.io", framing: BINARY, failure: /"reason":"NonZeroExitCode"/ },
  { protocol: "v4.base64.channel.k8s.io", framing: BASE64, failure: /"reason":"NonZeroExitCode"/ },
  { protocol: "channel.k8s.io", framing: BINARY, failure: new RegExp(`^${FAILED}$`) },
  { protocol: "base64.channel.k8s.io", framing: BASE64, failure: new RegExp(`^${FAILED}$`) },
  { protocol: "", framing: BINARY, failure: new RegExp(`^${FAILED}$`) },
] as const satisfies { readonly protocol: ExecProtocol; readonly framing: unknown; readonly failure: RegExp }[]) {
  test(`protocol "${protocol}" moves input and output and reports a failure in its format; a channel cannot be closed`, async () => {
    const client = new ChannelClient(framing);
    const over = serveExec(client, ALL, echo, protocol);
    client.says(0, "héllo");
    client.says(255, [0]);
    client.says(0, "still here");
    client.goes();
    await over;
    const failing = new ChannelClient(framing);
    await serveExec(failing, ALL, FAILS, protocol);

    deepEqual(client.got.slice(0, 2), [
      [1, "héllo"],
      [1, "still here"],
    ]);
    match(failing.got[0]?.[1] ?? "", failure);
  });
}

test("a message that is not valid base64 is ignored", async () => {
  const client = new ChannelClient(BASE64);
  const over = serveExec(client, ALL, echo, "base64.channel.k8s.io");
  for (const message of ["", "0", "0%%%%", "0aGVsbG8="]) client.saysRaw(encoder.encode(message));
  client.goes();
  await over;

  deepEqual(client.got, [[1, "hello"]]);
});
