import reference from '@scalar/fastify-api-reference';
import type { App } from './app.ts';

/** Everything the page needs comes from this service. The browser is told so, so that no key typed into it can go elsewhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A page that shows an OpenAPI document of ours, and from which requests can be tried. It works without the internet. */
export async function registerReferencePage(
  app: App,
  { path, documentPath, title }: { path: `/${string}`; documentPath: string; title: string },
): Promise<void> {
  await app.register(reference, {
    routePrefix: path,
    configuration: {
      url: documentPath,
      pageTitle: title,
      telemetry: false,
      // What would ask servers of others.
      withDefaultFonts: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
    },
    hooks: {
      onRequest: (_request, reply, done) => {
        reply.header('content-security-policy', contentSecurityPolicy);
        done();
      },
    },
  });
}
