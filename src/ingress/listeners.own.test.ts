import { ok } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connect } from "node:tls";
import { silentLogger } from "../base/logger.ts";
import { testServing } from "../testing/fixtures/certificates.ts";
import { Listeners } from "./listeners.ts";

test("certificates that arrive while the ports are being opened are used", async () => {
  const [unknown, certificate] = [testServing(), testServing()];
  await using listeners = new Listeners({
    handler: { decide: () => ({ is: "reply", status: 404, headers: [], body: "" }), finished() {} },
    defaultCertificate: unknown,
    host: "127.0.0.1",
    wanted: { http: 0, https: 0 },
    isTaken: () => false,
    onChange() {},
    log: silentLogger,
  });

  const started = listeners.start();
  listeners.useCertificates(new Map([["a.example", certificate]]));
  await started;

  const { https: port } = listeners.ports;
  const socket = connect({ host: "127.0.0.1", port, servername: "a.example", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  ok(certificate.certificate.replaceAll(/-----[^-]*-----|\s/g, "").startsWith(raw.toString("base64")));
});
