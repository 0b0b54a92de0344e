/**
 * TLS handshakes of clients that name the server, with the certificate of that name. They need a server without a certificate of its own:
 * Node adds the certificate of a name to the server's, and OpenSSL prefers the one with the better key type. So an RSA certificate would
 * never be used beside a default one with an elliptic curve.
 */
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import { createServer, type SecureContext, type TLSSocket, type TlsOptions } from "node:tls";
import { HANDSHAKE_TIMEOUT_MS } from "../limits.ts";
import { namesServer } from "./client-hello.ts";
import { decideByFirstBytes } from "./first-bytes.ts";

/** Connections of `secure` whose clients name the server get `contextOf` that name; all others the certificate of `secure`. */
export function serveByName(secure: SecureServer, options: TlsOptions, contextOf: (name: string) => SecureContext): void {
  const named = createServer({ ...options, SNICallback: (name, done) => done(null, contextOf(name.toLowerCase())) });
  named.on("secureConnection", (socket: TLSSocket) => secure.emit("secureConnection", socket));
  // Node's own listener is the first one.
  const [serveUnnamed] = secure.listeners("connection") as ((this: SecureServer, socket: Socket) => void)[];
  if (serveUnnamed === undefined) throw new Error("Cannot serve certificates by name: Node's server has no listener for connections");
  secure.off("connection", serveUnnamed);
  secure.on("connection", (socket: Socket) =>
    decideByFirstBytes(socket, {
      timeoutMs: HANDSHAKE_TIMEOUT_MS,
      decide: namesServer,
      decided(isNamed) {
        if (isNamed) named.emit("connection", socket);
        else serveUnnamed.call(secure, socket);
      },
    }),
  );
}
