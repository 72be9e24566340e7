/** What `promise` resolves to, or `late` where that takes longer. */
export async function within<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value | 'late'> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    deadline = setTimeout(() => resolve('late'), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(deadline);
  }
}
