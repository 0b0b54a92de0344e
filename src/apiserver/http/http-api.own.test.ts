import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Exchange, ExchangeAnswer, ExchangeRequest } from "../framework/exchange.ts";
import { BODY_BYTES_MAX } from "./http-api.ts";
import { aborted, chunk, deferred, disposable, PROTOCOLS, rawConnection, readUntil, serve, text, watchAnswer } from "./testing/served.ts";

/** Echoes the request. */
const echo: Exchange = (request) => echoUpTo(request);

async function echoUpTo(request: ExchangeRequest, bytesMax?: number): Promise<ExchangeAnswer> {
  try {
    const body = Buffer.from(await request.body(bytesMax)).toString();
    const { method, path, query, peer } = request;
    return text(
      JSON.stringify({ method, path, query, peer, accept: request.header("accept"), host: request.header("host") !== undefined, body }),
    );
  } catch (error) {
    return text((error as Error).message, { code: isReason(error, "RequestEntityTooLarge") ? 413 : 500 });
  }
}

for (const [protocol, client] of Object.entries(PROTOCOLS)) {
  describe(protocol, () => {
    test("a request is received unchanged and answered with a Content-Length", async () => {
      await using served = await serve(echo);
      using asking = client(served);
      const { code, headers, body } = await asking.ask({
        method: "POST",
        path: "/a%2fb?x=1&y=%20",
        headers: { accept: "a/b" },
        body: "hello",
      });
      deepEqual(JSON.parse(body), {
        method: "POST",
        path: "/a%2fb",
        query: "x=1&y=%20",
        peer: { address: "127.0.0.1", isLoopback: true },
        accept: "a/b",
        host: true,
        body: "hello",
      });
      deepEqual([code, headers["content-length"], headers["content-type"]], [200, String(body.length), "text/plain"]);
      equal(typeof headers.date, "string");
    });

    test("one connection carries many requests", async () => {
      await using served = await serve(async ({ path }) => text(path));
      using asking = client(served);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => asking.ask({ path: `/${index}` })));
      deepEqual(
        answers.map(({ body }) => body),
        Array.from({ length: 50 }, (_, index) => `/${index}`),
      );
    });

    test("HEAD is answered like GET, without the body", async () => {
      await using served = await serve(async () => text("twelve bytes"));
      using asking = client(served);
      const { code, headers, body } = await asking.ask({ method: "HEAD" });
      deepEqual([code, headers["content-length"], body], [200, "12", ""]);
    });

    test("responses 204 and 304 have neither body nor Content-Length", async () => {
      await using served = await serve(async ({ path }) => text("", { code: Number(path.slice(1)), body: [] }));
      using asking = client(served);
      for (const expected of [204, 304]) {
        const { code, headers, body } = await asking.ask({ path: `/${expected}` });
        deepEqual([code, headers["content-length"], body], [expected, undefined, ""]);
      }
    });

    test("repeated headers stay separate", async () => {
      const warning = ['299 - "one"', '299 - "two"'];
      await using served = await serve(async () => text("", { headers: { warning } }));
      using asking = client(served);
      equal((await asking.ask()).headers["warning"], warning.join(", "));
    });

    test("a request body in many chunks is received completely and in order", async () => {
      const pieces = Array.from({ length: 3_000 }, (_, index) => Buffer.from(`${index},`.repeat(100)));
      await using served = await serve(async () => text("", { body: pieces }));
      using asking = client(served);
      const { headers, body } = await asking.ask();
      equal(headers["content-length"], String(body.length));
      equal(body, Buffer.concat(pieces).toString());
    });

    test("a request body of exactly the limit is accepted", async () => {
      await using served = await serve(async (request) => text(String((await request.body()).length)));
      using asking = client(served);
      equal((await asking.ask({ method: "POST", body: new Uint8Array(BODY_BYTES_MAX) })).body, "3145728");
    });

    for (const declared of [true, false]) {
      test(`a body over the limit is rejected with upstream's message, its length being ${declared ? "declared" : "unknown"}`, async () => {
        await using served = await serve(echo);
        using asking = client(served);
        const body = new Uint8Array(BODY_BYTES_MAX + 1);
        const headers: Record<string, string> = declared ? { "content-length": String(body.length) } : {};
        if (!declared && protocol === "HTTP/1.1") headers["transfer-encoding"] = "chunked";
        const { code, body: message } = await asking.ask({ method: "POST", headers, body });
        deepEqual([code, message], [413, "Request entity too large: limit is 3145728"]);
        equal((await asking.ask({ method: "POST", body: "small" })).code, 200);
      });
    }

    for (const declared of [true, false]) {
      test(`a body over a request's own limit is rejected with 413, its length being ${declared ? "declared" : "unknown"}`, async () => {
        await using served = await serve((request) => echoUpTo(request, 10));
        using asking = client(served);
        const headers: Record<string, string> = declared ? { "content-length": "11" } : {};
        if (!declared && protocol === "HTTP/1.1") headers["transfer-encoding"] = "chunked";
        const { code, body: message } = await asking.ask({ method: "POST", headers, body: "12345678901" });
        deepEqual([code, message], [413, "Request entity too large: limit is 10"]);
        equal((await asking.ask({ method: "POST", body: "1234567890" })).code, 200);
      });
    }

    test("a failed exchange resets only its own client", async () => {
      await using served = await serve(async ({ path }) => {
        if (path === "/bad") throw new Error("violates the contract");
        return text("fine");
      });
      using unlucky = client(served);
      using other = client(served);
      await rejects(unlucky.ask({ path: "/bad" }));
      equal((await other.ask({ path: "/good" })).body, "fine");
    });

    test("a client disconnect aborts the signal and the pending body read", async () => {
      const arrived = deferred<ExchangeRequest>();
      await using served = await serve(async (request) => {
        arrived.resolve(request);
        await aborted(request);
        return text("not received");
      });
      const asking = client(served);
      asking.ask({ method: "POST", headers: { "content-length": "10" }, body: "half" }).catch(() => "gone");
      const request = await arrived.promise;
      const body = Promise.resolve(request.body()).catch((error: unknown) => error);
      asking[Symbol.dispose]();
      await aborted(request);
      equal((request.signal.reason as Error).message, "The client disconnected");
      equal(await body, request.signal.reason);
    });

    test("the signal of an answered request is not aborted, whether obtained early or late", async () => {
      const requests: ExchangeRequest[] = [];
      await using served = await serve(async (request) => {
        requests.push(request);
        return text(String(request.path === "/early" && request.signal.aborted));
      });
      using asking = client(served);
      await asking.ask({ path: "/early" });
      await asking.ask({ path: "/late" });
      await asking.ask();
      deepEqual(
        requests.slice(0, 2).map(({ signal }) => signal.aborted),
        [false, false],
      );
    });
  });
}

test("100 Continue is sent when the body is read, and not for an oversized body", async () => {
  await using served = await serve(echo);
  const post = (length: number) => `POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
  using wanted = disposable(await rawConnection(served));
  wanted.socket.write(post(5));
  match(await readUntil(wanted.socket, /\r\n\r\n/), /^HTTP\/1\.1 100 Continue/);
  wanted.socket.write("hello");
  match(await readUntil(wanted.socket, /"body":"hello"/), /^HTTP\/1\.1 200 OK/);
  using refused = disposable(await rawConnection(served));
  refused.socket.write(post(BODY_BYTES_MAX + 1));
  const answer = await readUntil(refused.socket, /limit is 3145728$/);
  match(answer, /^HTTP\/1\.1 413 Payload Too Large/);
  match(answer, /connection: close/i);
});

test("an unread body is not awaited, and the response closes the connection", async () => {
  await using served = await serve(async () => text("no", { code: 401 }));
  using client = disposable(await rawConnection(served));
  client.socket.write("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n");
  match(await readUntil(client.socket, /no$/), /^HTTP\/1\.1 401 Unauthorized[^]*connection: close/i);
});

test("a request in absolute form is accepted", async () => {
  await using served = await serve(async ({ path, query }) => text(`<${path}|${query}>`));
  using client = disposable(await rawConnection(served));
  client.socket.write("GET https://a:1/b/c?d=e HTTP/1.1\r\nhost: a\r\n\r\n");
  match(await readUntil(client.socket, />$/), /<\/b\/c\|d=e>$/);
  client.socket.write("GET https://a?d=e HTTP/1.1\r\nhost: a\r\n\r\n");
  match(await readUntil(client.socket, />$/), /<\/\|d=e>$/);
});

test("a header lookup does not find inherited properties", async () => {
  await using served = await serve(async (request) => text(`${request.header("constructor")} ${request.header("__proto__")}`));
  for (const client of Object.values(PROTOCOLS)) {
    using asking = client(served);
    equal((await asking.ask()).body, "undefined undefined");
  }
});

test("pipelined HTTP/1.1 requests, streams included, are answered in order", async () => {
  const first = deferred<void>();
  const watch = watchAnswer();
  await using served = await serve(async ({ path }) => {
    if (path === "/watch") return watch.answer;
    await first.promise;
    return text("first");
  });
  using client = disposable(await rawConnection(served));
  client.socket.write("GET /one HTTP/1.1\r\nhost: a\r\n\r\nGET /watch HTTP/1.1\r\nhost: a\r\n\r\n");
  const sink = await watch.sink;
  sink.write(chunk("event"));
  first.resolve();
  const received = await readUntil(client.socket, /event/);
  match(received, /^HTTP\/1\.1 200[^]*first[^]*HTTP\/1\.1 200[^]*5\r\nevent/);
});
