/** Identifies the peer of a connection: once per connection, not once per request. */
import type { TLSSocket } from "node:tls";
import { ClientAuthorities } from "./client-certificate-authorities.ts";
import type { HttpPeer, HttpPeerCertificate } from "./contract.ts";

export class Peers {
  readonly #known = new WeakMap<object, HttpPeer>();
  #authorities: ClientAuthorities | undefined;

  constructor(clientAuthorities: Readonly<Record<string, string>> | undefined) {
    this.use(clientAuthorities);
  }

  /** Applies to new connections. Without CAs, clients are not asked for a certificate. */
  use(clientAuthorities: Readonly<Record<string, string>> | undefined): void {
    this.#authorities = clientAuthorities === undefined ? undefined : new ClientAuthorities(clientAuthorities);
  }

  of(socket: TLSSocket): HttpPeer {
    let peer = this.#known.get(socket);
    if (peer === undefined) {
      peer = this.#describe(socket);
      this.#known.set(socket, peer);
    }
    return peer;
  }

  #describe(socket: TLSSocket): HttpPeer {
    // An IPv4 client of a dual-stack socket.
    const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    const certificate = this.#certificateOf(socket);
    return {
      address,
      isLoopback: address === "::1" || address.startsWith("127."),
      ...(certificate === undefined ? {} : { certificate }),
    };
  }

  #certificateOf(socket: TLSSocket): HttpPeerCertificate | undefined {
    const certificate = this.#authorities === undefined ? undefined : socket.getPeerX509Certificate();
    if (certificate === undefined) return undefined;
    // Node's types declare an Error; it is an error code.
    const problem = socket.authorized ? undefined : String(socket.authorizationError);
    const authorities = this.#authorities?.signersOf({ certificate, problem, nowMs: Date.now() }) ?? [];
    return { pem: certificate.toString(), authorities };
  }
}
