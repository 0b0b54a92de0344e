import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { connect as netConnect } from "node:net";
import { describe, test } from "node:test";
import {
  chunk,
  deferred,
  disposable,
  http2Client,
  PROTOCOLS,
  rawConnection,
  readUntil,
  serve,
  text,
  watchAnswer,
} from "./testing/served.ts";

for (const [protocol, client] of Object.entries(PROTOCOLS)) {
  describe(protocol, () => {
    test("shutdown answers running requests before it closes the server", async () => {
      const [arrived, release] = [deferred<void>(), deferred<void>()];
      const served = await serve(async () => {
        arrived.resolve();
        await release.promise;
        return text("x".repeat(500_000));
      });
      using asking = client(served);
      const answer = asking.ask();
      await arrived.promise;
      const closed = served.close();
      equal(served.close(), closed);
      release.resolve();
      equal((await answer).body.length, 500_000);
      await closed;
    });

    test("shutdown lets a stream's writer end it", async () => {
      const { answer, sink: coming } = watchAnswer();
      const served = await serve(async () => answer);
      using asking = client(served);
      const watching = asking.ask();
      const sink = await coming;
      const closed = served.close();
      sink.write(chunk("last words"));
      sink.end();
      equal((await watching).body, "last words");
      await closed;
    });

    test("shutdown resets requests that exceed its timeout", async () => {
      const { answer, sink } = watchAnswer();
      const served = await serve(async () => answer);
      using asking = client(served);
      const cutOff = rejects(asking.ask());
      const over = sink.then((each) => new Promise<void>((resolve) => each.onClosed(resolve)));
      await sink;
      await served.close({ graceMs: 1 });
      await over;
      await cutOff;
    });

    test("idle connections do not delay shutdown", async () => {
      const served = await serve(async () => text("fine"));
      using asking = client(served);
      await asking.ask();
      await served.close();
    });
  });
}

test("new connections are refused while running requests finish", async () => {
  const [arrived, release] = [deferred<void>(), deferred<void>()];
  const served = await serve(async () => {
    arrived.resolve();
    await release.promise;
    return text("fine");
  });
  using client = http2Client(served);
  const goaway = once(client.session, "goaway");
  const answer = client.ask();
  await arrived.promise;
  const closed = served.close();
  const [code] = (await goaway) as [number];
  const late = netConnect(served.port, "127.0.0.1");
  const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
  deepEqual([code, error.code], [0, "ECONNREFUSED"]);
  release.resolve();
  equal((await answer).body, "fine");
  await closed;
});

test("during shutdown an HTTP/1.1 response has Connection: close", async () => {
  const [arrived, release] = [deferred<void>(), deferred<void>()];
  const served = await serve(async () => {
    arrived.resolve();
    await release.promise;
    return text("fine");
  });
  using client = disposable(await rawConnection(served));
  client.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await arrived.promise;
  const closed = served.close();
  release.resolve();
  match(await readUntil(client.socket, /fine$/), /connection: close/i);
  await closed;
});
