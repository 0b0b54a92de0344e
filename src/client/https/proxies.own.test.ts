import assert from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { httpsTransport } from "./https-transport.ts";
import { startProxyServer, type ProxyOptions } from "./testing/proxy-server.ts";
import { startScriptedServer, type Protocol } from "./testing/scripted-server.ts";

const OPTIONS = { clock: realClock, log: silentLogger, userAgent: "test" };

const rows: readonly [protocol: Protocol, proxy: ProxyOptions, host: string][] = [
  ["HTTP/2", { scheme: "http" }, "localhost"],
  ["HTTP/1.1", { scheme: "http", login: "me:p@ss" }, "127.0.0.1"],
  ["HTTP/2", { scheme: "https", login: "me:secret" }, "localhost"],
  ["HTTP/2", { scheme: "socks5" }, "localhost"],
  ["HTTP/1.1", { scheme: "socks5", login: "me:secret" }, "127.0.0.1"],
];

for (const [protocol, options, host] of rows) {
  const how = `${protocol} through ${options.scheme}${options.login === undefined ? "" : " with a password"}`;
  test(`${how} reaches ${host}, whose name the proxy resolves`, async () => {
    await using server = await startScriptedServer({ protocol }, (_request, reply) => reply.send(200, { ok: true }));
    await using proxy = await startProxyServer(options);
    const login = options.login === undefined ? "" : `${options.login.split(":").map(encodeURIComponent).join(":")}@`;
    const text = `${server.authority}\n${proxy.authority}`;
    const proxyUrl = `${options.scheme}://${login}127.0.0.1:${proxy.port}`;
    const config = { server: `https://${host}:${server.port}`, namespace: "", authority: { text }, proxyUrl };
    await using transport = httpsTransport(config, OPTIONS);

    assert.deepEqual(await transport.document("/"), { ok: true });

    assert.deepEqual(proxy.targets, [`${host}:${server.port}`]);
  });
}

for (const scheme of ["http", "socks5"] as const) {
  test(`a ${scheme} proxy that refuses is named without its password`, async () => {
    await using proxy = await startProxyServer({ scheme, login: "me:right" });
    const proxyUrl = `${scheme}://me:wrong@127.0.0.1:${proxy.port}`;
    await using transport = httpsTransport({ server: "https://s.example.com", namespace: "", proxyUrl }, OPTIONS);

    await assert.rejects(transport.document("/"), (error: unknown) => {
      assert(isReason(error, "ServiceUnavailable"));
      assert.match(error.message, new RegExp(`Cannot connect to s\\.example\\.com:443: proxy ${scheme}://127\\.0\\.0\\.1:${proxy.port}`));
      assert.doesNotMatch(error.message, /wrong/);
      return true;
    });
  });
}
