/** Who is at the other end of a connection: found out once per connection, not once per request. */
import type { TLSSocket } from "node:tls";
import { ClientAuthorities } from "./client-certificate-authorities.ts";
import type { HttpPeer, HttpPeerCertificate } from "./contract.ts";

export class Peers {
  readonly #known = new WeakMap<object, HttpPeer>();
  #authorities: ClientAuthorities | undefined;

  constructor(clientAuthorities: Readonly<Record<string, string>> | undefined) {
    this.use(clientAuthorities);
  }

  /** For connections from now on. Without authorities, clients are not asked for a certificate. */
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
    // An IPv4 client of a socket that also takes IPv6.
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
    // Node's types promise an Error; it is the code of one.
    const problem = socket.authorized ? undefined : String(socket.authorizationError);
    const authorities = this.#authorities?.signersOf({ certificate, problem, nowMs: Date.now() }) ?? [];
    return { pem: certificate.toString(), authorities };
  }
}
