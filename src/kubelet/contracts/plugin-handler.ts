/**
 * The contract of a type of plugin that registers with the kubelet by a socket in `plugins_registry` (CSI drivers, DRA drivers).
 * kubelet/plugin-registration watches the directory and calls the handler of the plugin's type:
 *
 *     socket appears     GetInfo → validate → register → NotifyRegistrationStatus
 *     socket disappears  deregister
 *     socket replaced    deregister → register
 *
 * Calls for one socket never overlap. A failed registration is reported to the plugin and retried with back-off while its socket exists.
 */
export interface PluginHandler {
  /** "CSIPlugin" or "DRAPlugin": what the plugin answers as its type. */
  readonly type: string;
  /** Throws if the plugin cannot be used; the message is sent to the plugin. Must not change anything. */
  validate(plugin: RegisteredPlugin): void;
  /** Called for every (re)appearance of the socket, also after a restart of the kubelet. Rejecting makes the registration fail. */
  register(plugin: RegisteredPlugin, signal: AbortSignal): Promise<void>;
  /** Called after a successful `register`, when the socket is gone. Not called when the kubelet stops. */
  deregister(plugin: RegisteredPlugin): Promise<void>;
}

export interface RegisteredPlugin {
  readonly name: string;
  /** Absolute path of the socket that serves the plugin's own protocol. */
  readonly endpoint: string;
  /** Whether the plugin has the kubelet's root directory at /var/lib/kubelet, as in a container with that hostPath. */
  readonly usesDefaultRoot: boolean;
  readonly supportedVersions: readonly string[];
}
