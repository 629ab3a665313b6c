package cell

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
	"maps.clone":              "MapClone",
	"reflect.DeepEqual":       "DeepEqual",
}

// replacedGeneric maps generic functions to run-time support that works on any type: the compiled sort is as fast as it
// should be, and makes the same comparisons.
var replacedGeneric = map[string]string{
	"slices.Sort":           "SortSlice",
	"slices.SortFunc":       "SortSliceFunc",
	"slices.SortStableFunc": "SortSliceStable",
	"slices.overlaps":       "Overlaps",
}
