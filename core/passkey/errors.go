package passkey

import (
	"errors"
	"fmt"
)

// Why an answer is refused. Each is one step of Web Authentication, level 3, sections 7.1 and
// 7.2; none of them tells what was expected.
var (
	ErrMalformed        = errors.New("passkey: the answer is malformed")
	ErrCeremony         = errors.New("passkey: the client data are of the other ceremony")
	ErrChallenge        = errors.New("passkey: the challenge is not the one that was given out")
	ErrOrigin           = errors.New("passkey: the answer was made for another origin")
	ErrCrossOrigin      = errors.New("passkey: the answer was made in a frame of another site")
	ErrRPID             = errors.New("passkey: the answer was made for another relying party")
	ErrUserPresence     = errors.New("passkey: nobody was present")
	ErrUserVerification = errors.New("passkey: the authenticator did not verify its user")
	ErrBackup           = errors.New("passkey: the backup flags contradict one another, or what was registered")
	ErrAlgorithm        = errors.New("passkey: the key's algorithm was not asked for")
	ErrKey              = errors.New("passkey: the public key is not valid")
	ErrAttestation      = errors.New("passkey: the attestation statement is not valid")
	ErrCredentialID     = errors.New("passkey: the credential's ID is not the one that was meant")
	ErrSignature        = errors.New("passkey: the signature is not the credential's")
	ErrCounter          = errors.New("passkey: the signature counter did not grow: the authenticator may have been cloned")
)

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }
