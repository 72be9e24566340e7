import { TestService, type ServiceOptions } from './service.ts';

/** A service for one test alone, stopped and checked when that ends. */
export async function withService(options: ServiceOptions, use: (at: TestService) => Promise<void>): Promise<void> {
  const at = await TestService.start(options);
  try {
    await use(at);
  } finally {
    await at.stop();
  }
}
