package cell

import "go/types"

// replaced maps functions, methods and variables of compiled packages to run-time support: what blocks must stop with its
// cell, what prints must know the session's types and its cell, and what ends the process must end the cell.
var replaced = map[string]string{
	"time.Sleep":              "Sleep",
	"time.AfterFunc":          "AfterFunc",
	"os.Exit":                 "Exit",
	"runtime.Goexit":          "Goexit",
	"log.Fatal":               "LogFatal",
	"log.Fatalf":              "LogFatalf",
	"log.Fatalln":             "LogFatalln",
	"log.Printf":              "LogPrintf",
	"(*log.Logger).Fatal":     "LoggerFatal",
	"(*log.Logger).Fatalf":    "LoggerFatalf",
	"(*log.Logger).Fatalln":   "LoggerFatalln",
	"(*sync.Mutex).Lock":      "MutexLock",
	"(*sync.Mutex).Unlock":    "MutexUnlock",
	"(*sync.RWMutex).Lock":    "RWMutexLock",
	"(*sync.RWMutex).Unlock":  "RWMutexUnlock",
	"(*sync.RWMutex).RLock":   "RWMutexRLock",
	"(*sync.RWMutex).RUnlock": "RWMutexRUnlock",
	"(*sync.WaitGroup).Wait":  "WaitGroupWait",
	"(*sync.WaitGroup).Go":    "WaitGroupGo",
	"(*sync.Cond).Wait":       "CondWait",
	"(*sync.Once).Do":         "OnceDo",
	"fmt.Print":               "Print",
	"fmt.Printf":              "Printf",
	"fmt.Println":             "Println",
	"fmt.Sprintf":             "Sprintf",
	"fmt.Fprintf":             "Fprintf",
	"fmt.Errorf":              "Errorf",
	"fmt.Appendf":             "Appendf",
	"fmt.Scan":                "Scan",
	"fmt.Scanf":               "Scanf",
	"fmt.Scanln":              "Scanln",
	"errors.As":               "ErrorsAs",
	"errors.Is":               "ErrorsIs",
	"os.Stdout":               "Stdout",
	"os.Stderr":               "Stderr",
	"os.Stdin":                "Stdin",
	"reflect.DeepEqual":       "DeepEqual",
}

// replacedGeneric maps generic functions of compiled packages to run-time support that works on any type.
var replacedGeneric = map[string]string{
	"maps.clone": "MapClone",
}

// replaceGeneric writes a use of a generic function whose body is compiled.
func (l *lowerer) replaceGeneric(to string, f *types.Func, targs []types.Type) string {
	return "krt." + to
}
