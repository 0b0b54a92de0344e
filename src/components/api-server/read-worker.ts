/**
 * One read worker (read-workers.ts): an API server of its own on the store of the main process, on sockets that the main process has bound.
 * It owns nothing: certificates, keys and configuration are those of the main process, with which it ends.
 */
import { startHttpApi } from "../../apiserver/http/http-api.ts";
import { relayedExchange } from "../../apiserver/http/relayed-exchange.ts";
import { networkWebhookTransport } from "../../apiserver/http/webhook-transport.ts";
import { Disposables } from "../../base/disposables.ts";
import { connectForFrames } from "../../host/relay/frame-socket.ts";
import { relayFrames, RELAYED_FRAME_BYTES_MAX } from "../../host/relay/framed-requests.ts";
import { readNumbers } from "../../host/relay/shared-numbers.ts";
import { relayTo } from "../../host/relay/relay-client.ts";
import { startRenewal } from "../../pki/renewal.ts";
import { MESSAGE_BYTES_MAX } from "../../store/remote/messages.ts";
import { openRemoteStore, type PublishedPage } from "../../store/remote/remote-store.ts";
import { readIdentity } from "./identity.ts";
import { FIRST_DESCRIPTOR, pageOf, readStart, relaySocketOf, storeSocketOf, writesSocketOf } from "./read-worker-start.ts";
import { ServingTls } from "./serving-tls.ts";
import { startCore, type CoreContext } from "./start-api-server.ts";
import { readAdmission } from "./webhook-credentials.ts";

/** Resolves when it accepts connections. `lost` is called when the main process has closed the store. */
export async function startReadWorker(
  { directory, number }: { readonly directory: string; readonly number: number },
  { clock, log, lost }: CoreContext & { lost(): void },
): Promise<AsyncDisposable> {
  const { options, descriptors } = await readStart(directory);
  await using starting = new Disposables();
  const channel = await connectForFrames(storeSocketOf(directory), { frameBytesMax: MESSAGE_BYTES_MAX });
  channel.onClosed(lost);
  const store = await openRemoteStore({ channel, page: { number, open: () => pageAt(directory, number) }, clock });
  starting.defer(() => store.close());
  const certificates = await ServingTls.open(options, { clock });
  const { pki, clientAuthorities, authority: serverAuthority } = certificates;
  const identity = await readIdentity(options.identity, { pki, clientAuthorities, serverAuthority, log });
  const admission = await readAdmission(options);
  const webhookTransport = starting.use(networkWebhookTransport({ clock, credentials: admission.credentials }));
  const core = await startCore(store, { api: admission.api, eventTtlMs: options.eventTtlMs, identity, webhookTransport, clock, log });
  starting.defer(() => core.close());
  const relay = starting.use(relayTo(relaySocketOf(directory)));
  const writesSocket = await connectForFrames(writesSocketOf(directory), { frameBytesMax: RELAYED_FRAME_BYTES_MAX });
  starting.defer(() => writesSocket.close());
  const { exchange: local, storedAccess } = core;
  const exchange = relayedExchange({ local, storedAccess, writes: relayFrames(writesSocket), relay, log });
  const servers = await Promise.all(
    Array.from({ length: descriptors }, (_, index) =>
      startHttpApi({
        exchange,
        ...{ host: options.serving.bindAddress, port: 0, descriptor: FIRST_DESCRIPTOR + index },
        tls: certificates.tls,
        limits: { streamsPerConnectionMax: options.serving.streamsPerConnectionMax },
        log,
      }),
    ),
  );
  // Concurrently: the servers wait for running requests, and only the core can end the watches.
  starting.defer(async () => void (await Promise.all([...servers.map((server) => server.close()), core.close()])));
  const renewal = startRenewal({
    renew: () => certificates.renew(clock.now()),
    isShared: certificates.isShared,
    onRenewed: () => servers.forEach((server) => server.useTls(certificates.tls)),
    ...{ clock, log },
  });
  starting.defer(() => renewal.stop());
  return starting.move();
}

function pageAt(directory: string, number: number): PublishedPage {
  const numbers = readNumbers(pageOf(directory, number));
  return {
    read() {
      const [sent, revision] = numbers.read();
      return { sent, revision };
    },
    [Symbol.dispose]: () => numbers[Symbol.dispose](),
  };
}
