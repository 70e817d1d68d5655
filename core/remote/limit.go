//go:build !js

package remote

import (
	"context"
	"time"
)

// limit ends an exchange after a time.
func limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
