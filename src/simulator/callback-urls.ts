/** Where upstreams call back that are told so once for an account, in their dashboard. */
export type CallbackUrls = {
  /** Whether the provider is one of those. */
  has(provider: string): boolean;
  get(provider: string): string | undefined;
  set(provider: string, url: string | undefined): void;
  /** Back to those the simulator was started with. */
  clear(): void;
};

export function createCallbackUrls(
  providers: readonly string[],
  initial: Readonly<Record<string, string | undefined>>,
): CallbackUrls {
  const urls = new Map<string, string | undefined>();
  const restore = () => {
    for (const provider of providers) urls.set(provider, initial[provider]);
  };
  restore();

  return {
    has: (provider) => urls.has(provider),
    get: (provider) => urls.get(provider),
    set: (provider, url) => void urls.set(provider, url),
    clear: restore,
  };
}
