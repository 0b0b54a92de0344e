/** Forwarding on real sockets: upstreams that answer, are silent, refuse, fail, truncate, lie, or lead back to the server. */
import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { startForwardingServer, startRelay, type ForwardingServer } from "../../testing/forwarding-server.ts";
import { startTestUpstream } from "../../testing/test-upstream.ts";
import { becomes } from "../../../testing/becomes.ts";

const NAME = "www.example.com";
const FROM_FIRST = `NOERROR ${NAME} A 192.0.2.1`;
const FROM_SECOND = `NOERROR ${NAME} A 192.0.2.2`;

describe("upstreams in order", () => {
  for (const mode of ["silent", "fails", "refuses", "garbage"] as const)
    test(`the next one answers if the first one ${mode === "garbage" ? "answers garbage" : mode === "silent" ? "is silent" : mode}`, async () => {
      await using first = await startTestUpstream([192, 0, 2, 1]);
      await using second = await startTestUpstream([192, 0, 2, 2]);
      first.mode = mode;
      await using server = await startForwardingServer({ upstreams: [first.name, second.name] });
      await becomes(() => server.ask(NAME), FROM_SECOND);
    });

  test("one that nothing listens on is skipped", async () => {
    await using second = await startTestUpstream([192, 0, 2, 2]);
    const gone = await startTestUpstream([192, 0, 2, 1]);
    await gone[Symbol.asyncDispose]();
    await using server = await startForwardingServer({ upstreams: [gone.name, second.name] });
    await becomes(() => server.ask(NAME), FROM_SECOND);
  });

  test("one that is down is used again after it answers", async () => {
    await using first = await startTestUpstream([192, 0, 2, 1]);
    await using second = await startTestUpstream([192, 0, 2, 2]);
    first.mode = "silent";
    await using server = await startForwardingServer({ upstreams: [first.name, second.name] });
    for (let count = 0; count < 3; count++)
      await becomes(() => server.ask(`a${count}.example.com`), `NOERROR a${count}.example.com A 192.0.2.2`);
    first.mode = "answers";
    let count = 0;
    await becomes(async () => (await server.ask(`b${count++}.example.com`)).endsWith("192.0.2.1"), true);
  });

  test("without any that answers, the client gets SERVFAIL", async () => {
    await using first = await startTestUpstream([192, 0, 2, 1]);
    first.mode = "silent";
    await using server = await startForwardingServer({ upstreams: [first.name] });
    equal(await server.ask(NAME), "SERVFAIL");
    first.mode = "answers";
    await becomes(() => server.ask(NAME), FROM_FIRST);
  });
});

test("a truncated response is requested again over TCP", async () => {
  await using upstream = await startTestUpstream([192, 0, 2, 1]);
  upstream.mode = "truncates";
  await using server = await startForwardingServer({ upstreams: [upstream.name] });
  await becomes(() => server.ask(NAME), FROM_FIRST);
  equal(upstream.asked.includes(`tcp ${NAME}`), true);
});

test("a forged response with another id is ignored", async () => {
  await using upstream = await startTestUpstream([192, 0, 2, 1]);
  upstream.mode = "forged";
  await using server = await startForwardingServer({ upstreams: [upstream.name] });
  await becomes(() => server.ask(NAME), FROM_FIRST);
});

test("responses are cached: positive and negative ones are requested once", async () => {
  await using upstream = await startTestUpstream([192, 0, 2, 1]);
  await using server = await startForwardingServer({ upstreams: [upstream.name] });
  await becomes(() => server.ask(NAME), FROM_FIRST);
  await becomes(() => server.ask("missing.example.com"), "NXDOMAIN");
  const asked = upstream.asked.length;
  for (let count = 0; count < 3; count++) {
    equal(await server.ask(NAME), FROM_FIRST);
    equal(await server.ask("missing.example.com"), "NXDOMAIN");
  }
  equal(upstream.asked.length, asked);
});

test("an upstream that forwards to this server is found and not used", async () => {
  await using relay = await startRelay();
  await using second = await startTestUpstream([192, 0, 2, 2]);
  await using server = await startForwardingServer({ upstreams: [relay.name, second.name] });
  relay.relayTo(server.peer);
  let count = 0;
  // Until the probe is back, a query may go round until its timeout, and is answered by the second upstream then.
  await becomes(async () => (await server.ask(`c${count++}.example.com`)).endsWith("192.0.2.2"), true);
});

describe("a flood of names that no upstream answers", () => {
  const flood = (server: ForwardingServer, prefix: string, count: number): readonly Promise<string>[] =>
    Array.from({ length: count }, (_, index) => server.ask(`${prefix}${index}.example.com`));

  test("is limited per client, and refused beyond that", async () => {
    await using upstream = await startTestUpstream([192, 0, 2, 1]);
    upstream.mode = "silent";
    await using server = await startForwardingServer({ upstreams: [upstream.name], concurrencyMax: 40 });
    const answers = await Promise.all(flood(server, "a", 60));
    equal(answers.filter((answer) => answer === "REFUSED").length >= 50, true);
    equal(upstream.asked.filter((name) => name.startsWith("udp a")).length <= 10, true);
  });

  test("fails at once while all upstreams are down, except for a few, and ends with the first answer", async () => {
    await using upstream = await startTestUpstream([192, 0, 2, 1]);
    upstream.mode = "silent";
    await using server = await startForwardingServer({ upstreams: [upstream.name] });
    // Two failures in a row: it is down.
    for (const answer of await Promise.all(flood(server, "a", 2))) equal(answer, "SERVFAIL");
    const answers = await Promise.all(flood(server, "b", 200));
    equal(
      answers.every((answer) => answer === "SERVFAIL"),
      true,
    );
    // 32, and a probe or two.
    equal(upstream.asked.filter((name) => name.startsWith("udp b")).length < 100, true);
    upstream.mode = "answers";
    await becomes(() => server.ask(NAME), FROM_FIRST);
  });
});
