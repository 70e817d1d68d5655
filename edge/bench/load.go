//go:build !js && !wasip1

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// An exchange is a request, ready to be sent, and what its answer must be.
type exchange struct {
	request []byte
	next    func() []byte // gives the request to send where each is another one; nil: it is request
	status  int
	head    []string // each is in the answer's header fields
	body    string   // is in the answer's body
}

// A conn is one keep-alive connection. Requests and answers are handled by hand: net/http's client
// would cost about as much as what is measured.
type conn struct {
	net.Conn
	r          *bufio.Reader
	head, body []byte // of the last answer
}

// answerLimit is how long an answer may take. It is for what hangs.
const answerLimit = 60 * time.Second

func dial(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 32<<10)}, nil
}

// do sends the request and checks the answer.
func (c *conn) do(e *exchange) error {
	c.SetDeadline(time.Now().Add(answerLimit))
	request := e.request
	if e.next != nil {
		request = e.next()
	}
	if _, err := c.Write(request); err != nil {
		return err
	}
	status, err := c.read()
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	right := status == e.status && bytes.Contains(c.body, []byte(e.body))
	for _, field := range e.head {
		right = right && bytes.Contains(c.head, []byte(field))
	}
	if !right {
		return fmt.Errorf("wrong answer to %q, want status %d, %q and %q:\n%s%.500s",
			line(request), e.status, e.head, e.body, c.head, c.body)
	}
	return nil
}

func line(b []byte) []byte {
	first, _, _ := bytes.Cut(b, []byte("\r\n"))
	return first
}

func (c *conn) read() (status int, err error) {
	c.head, c.body = c.head[:0], c.body[:0]
	length, chunked := 0, false
	for {
		field, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if c.head = append(c.head, field...); len(field) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(field), []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	fields := bytes.Fields(line(c.head))
	if len(fields) < 2 {
		return 0, errors.New("no status line")
	}
	if status, err = strconv.Atoi(string(fields[1])); err != nil {
		return 0, err
	}
	if !chunked {
		return status, c.take(length)
	}
	for {
		size, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 32)
		if err != nil {
			return 0, err
		}
		if err := c.take(int(n)); err != nil {
			return 0, err
		}
		if _, err := c.r.Discard(2); err != nil {
			return 0, err
		}
		if n == 0 {
			return status, nil
		}
	}
}

// take appends the next n bytes to the body.
func (c *conn) take(n int) error {
	at := len(c.body)
	c.body = slices.Grow(c.body, n)[:at+n]
	_, err := io.ReadFull(c.r, c.body[at:])
	return err
}

// A sample is what one run measured.
type sample struct {
	Requests int     `json:"requests"`
	Rate     float64 `json:"rate"`          // answers a second
	P50      float64 `json:"p50"`           // milliseconds
	P99      float64 `json:"p99"`           // milliseconds
	CPU      float64 `json:"cpu,omitempty"` // milliseconds of the server's processors for each answer
}

// summarise takes the times of a run's answers, in any order.
func summarise(times []time.Duration, elapsed time.Duration) sample {
	if len(times) == 0 {
		return sample{}
	}
	slices.Sort(times)
	at := func(q float64) float64 {
		return rounded(milliseconds(times[min(int(q*float64(len(times))), len(times)-1)]))
	}
	return sample{Requests: len(times), Rate: rounded(float64(len(times)) / elapsed.Seconds()), P50: at(0.5), P99: at(0.99)}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// rounded leaves out what nobody needs in a file.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

// closedLoop keeps n connections busy for so long: each sends its next request when it has its answer.
// A request that was begun is finished and counted. The exchanges are shared out among the connections.
func closedLoop(addr string, exchanges []exchange, n int, d time.Duration) (sample, error) {
	conns, err := dialAll(addr, n)
	if err != nil {
		return sample{}, err
	}
	defer closeAll(conns)
	times := make([][]time.Duration, n)
	begin := time.Now()
	err = each(conns, func(i int, c *conn) error {
		for turn := i; time.Since(begin) < d; turn++ {
			sent := time.Now()
			if err := c.do(&exchanges[turn%len(exchanges)]); err != nil {
				return err
			}
			times[i] = append(times[i], time.Since(sent))
		}
		return nil
	})
	elapsed := time.Since(begin)
	return summarise(slices.Concat(times...), elapsed), err
}

// volley sends every exchange once, all at the same time, each on a connection of its own.
func volley(addr string, exchanges []exchange) (sample, error) {
	conns, err := dialAll(addr, len(exchanges))
	if err != nil {
		return sample{}, err
	}
	defer closeAll(conns)
	times := make([]time.Duration, len(conns))
	begin := time.Now()
	err = each(conns, func(i int, c *conn) error {
		err := c.do(&exchanges[i])
		times[i] = time.Since(begin)
		return err
	})
	return summarise(times, time.Since(begin)), err
}

// openLoop sends so many requests a second, however long the answers take: a time begins when
// the request was due, so that waiting for a slow server counts. It calls tick after every step
// with what was answered in it. A wrong answer ends it.
func openLoop(addr string, exchanges []exchange, rate float64, d, step time.Duration, tick func(sample)) error {
	const n = 128 // requests under way at most
	conns, err := dialAll(addr, n)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	var mu sync.Mutex
	var times []time.Duration
	begin, stepped := time.Now(), time.Now()
	report := func() {
		mu.Lock()
		taken := times
		times = nil
		mu.Unlock()
		tick(summarise(taken, time.Since(stepped)))
		stepped = time.Now()
	}
	var next atomic.Int64
	var hasFailed atomic.Bool
	ended := make(chan error, 1)
	go func() {
		ended <- each(conns, func(_ int, c *conn) error {
			for {
				turn := next.Add(1) - 1
				due := time.Duration(float64(turn) / rate * float64(time.Second))
				if due >= d || hasFailed.Load() {
					return nil
				}
				time.Sleep(due - time.Since(begin))
				if err := c.do(&exchanges[int(turn)%len(exchanges)]); err != nil {
					hasFailed.Store(true)
					return err
				}
				took := time.Since(begin) - due
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}()
	steps := time.NewTicker(step)
	defer steps.Stop()
	for {
		select {
		case err := <-ended:
			report()
			return err
		case <-steps.C:
			if time.Since(begin) < d-step/2 { // the end is a step of its own
				report()
			}
		}
	}
}

// dialAll opens n connections. Each has had an answer, so that what a new connection costs the server
// is in no measurement.
func dialAll(addr string, n int) ([]*conn, error) {
	conns := make([]*conn, 0, n)
	for range n {
		c, err := dial(addr)
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns = append(conns, c)
	}
	first := exchange{request: fmt.Appendf(nil, "GET /auth/providers HTTP/1.1\r\nHost: %s\r\n\r\n", addr), status: 200}
	if err := each(conns, func(_ int, c *conn) error { return c.do(&first) }); err != nil {
		closeAll(conns)
		return nil, err
	}
	return conns, nil
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.Close()
	}
}

// each runs f for every connection at once and returns the first error in their order.
func each(conns []*conn, f func(int, *conn) error) error {
	errs := make([]error, len(conns))
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() { errs[i] = f(i, c) })
	}
	wg.Wait()
	return firstError(errs...)
}
